# Completion of varve for fish: varve completion fish | source
function __varve_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	for line in ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
		switch $line
			case ':files'
				set -l path (string replace -r '^-[^=]*=' '' -- "$current")
				set -l flag (string sub -l (math (string length -- "$current") - (string length -- "$path")) -- "$current")
				for found in (__fish_complete_path "$path")
					printf '%s%s\n' "$flag" $found
				end
			case ':dirs'
				set -l path (string replace -r '^-[^=]*=' '' -- "$current")
				set -l flag (string sub -l (math (string length -- "$current") - (string length -- "$path")) -- "$current")
				for found in (__fish_complete_directories "$path")
					printf '%s%s\n' "$flag" $found
				end
			case '*'
				printf '%s\n' $line
		end
	end
end
complete -c varve -f -a '(__varve_complete)'
