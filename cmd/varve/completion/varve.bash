# Completion of varve for bash: source <(varve completion bash)
_varve() {
	local words=() word glue="" cur strip kind line out
	# Bash takes words apart at = and :, which belong to flags and addresses.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
		if [[ ${#words[@]} -gt 0 && ( -n $glue || $word == [=:]* ) ]]; then
			words[${#words[@]} - 1]+=$word
		else
			words+=("$word")
		fi
		[[ $word == *[=:] ]] && glue=1 || glue=""
	done
	cur=${words[${#words[@]} - 1]}
	strip=${cur%"${cur##*[=:]}"}
	COMPREPLY=()
	out=$("${COMP_WORDS[0]}" __complete -- "${words[@]}" 2>/dev/null) || return
	while IFS= read -r line; do
		case $line in
		:files | :dirs)
			kind=-f
			[[ $line == :dirs ]] && kind=-d
			compopt -o filenames 2>/dev/null
			word=${cur#"${cur%%[=]*}"}
			word=${word#=}
			[[ $cur == -*=* ]] || word=$cur
			while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$kind" -- "$word")
			;;
		?*)
			line=${line%%$'\t'*}
			COMPREPLY+=("$(printf %q "${line#"$strip"}")")
			;;
		esac
	done <<<"$out"
}
complete -F _varve varve
