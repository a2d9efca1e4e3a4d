package stdlib

import (
	"strings"
	"sync"

	"github.com/ua-parser/uap-go/uaparser"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// agentFunctions recognise user agents.
var agentFunctions = []vrl.Function{
	{Name: "parse_user_agent", Params: []vrl.Param{arg("value", vrl.String),
		word("mode", "fast", "fast", "reliable", "enriched")}, ReturnsFor: agentType, Compile: compileUserAgent},
}

// maxAgent is how much of a user agent is looked at, in bytes: hundreds of rules run over it.
const maxAgent = 2048

// agentSteps is the cost of a call in steps: the parser takes milliseconds for a text that it has not seen before.
const agentSteps = 10_000

// agentRules compiles the embedded rules when they are first needed, which takes a while.
var agentRules = sync.OnceValues(func() (*uaparser.Parser, error) { return uaparser.New() })

func agentType(c *vrl.Call) vrl.Type {
	version := []vrl.Known{knownField("family", vrl.Of(vrl.String, vrl.Null)),
		knownField("version", vrl.Of(vrl.String, vrl.Null))}
	browser, system, device := version, version, []vrl.Known{knownField("category", vrl.Of(vrl.String, vrl.Null))}
	if mode, _ := c.Const("mode"); mode.Kind() == value.StringKind && mode.Str() == "enriched" {
		more := fieldsOf(vrl.Of(vrl.String, vrl.Null), "major", "minor", "patch")
		browser = fields(version, more)
		system = fields(version, more, fieldsOf(vrl.Of(vrl.String, vrl.Null), "patch_minor"))
		device = fields(device, fieldsOf(vrl.Of(vrl.String, vrl.Null), "family", "brand", "model"))
	}
	return vrl.ObjectOf(knownField("browser", vrl.ObjectOf(browser...)), knownField("device", vrl.ObjectOf(device...)),
		knownField("os", vrl.ObjectOf(system...)))
}

func compileUserAgent(c *vrl.Call) (vrl.Run, error) {
	rules, err := agentRules()
	if err != nil {
		return nil, c.Refused("the rules of user agents cannot be read: %v", err)
	}
	mode, _ := c.Const("mode")
	enriched := mode.Str() == "enriched"
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		if fl := f.Spend(agentSteps); fl != nil {
			return value.Null, fl
		}
		s := strings.Clone(args[0].Str()[:min(len(args[0].Str()), maxAgent)]) // the parser keeps what it has seen
		client := &uaparser.Client{UserAgent: rules.ParseUserAgent(s), Os: rules.ParseOs(s),
			Device: rules.ParseDevice(s)}
		a := f.Arena
		browser, device, system := a.Object(6), a.Object(6), a.Object(6)
		if enriched {
			setKnown(a, device, "brand", client.Device.Brand)
		}
		category := agentCategory(client, s)
		setKnown(a, device, "category", category)
		if enriched {
			setKnown(a, device, "family", client.Device.Family)
			setKnown(a, device, "model", client.Device.Model)
		}
		u, o := client.UserAgent, client.Os
		setVersion(a, browser, enriched, u.Family, u.Major, u.Minor, u.Patch)
		setVersion(a, system, enriched, o.Family, o.Major, o.Minor, o.Patch)
		if enriched {
			setKnown(a, system, "patch_minor", o.PatchMinor)
		}
		all := a.Object(3)
		all.Append(a, "browser", browser.Of())
		all.Append(a, "device", device.Of())
		all.Append(a, "os", system.Of())
		return all.Of(), nil
	}, nil
}

// setKnown sets a text; null if the rules do not know it.
func setKnown(a *value.Arena, o *value.Object, key, s string) {
	v := value.Null
	if s != "" && s != "Other" {
		v = value.String(s)
	}
	o.Set(a, key, v)
}

// setVersion sets a family with its version, as one text and when enriched also in parts.
func setVersion(a *value.Arena, o *value.Object, enriched bool, family string, parts ...string) {
	setKnown(a, o, "family", family)
	version := ""
	for _, p := range parts {
		if p == "" {
			break
		}
		if version != "" {
			version += "."
		}
		version += p
	}
	setKnown(a, o, "version", version)
	if enriched {
		for i, name := range []string{"major", "minor", "patch"} {
			setKnown(a, o, name, parts[i])
		}
	}
}

// agentCategories say what kind of device a system runs on.
var agentCategories = []struct{ system, category string }{
	{"Windows Phone", "smartphone"}, {"Android", "smartphone"}, {"iOS", "smartphone"}, {"BlackBerry", "smartphone"},
	{"Symbian", "mobilephone"},
	{"Firefox OS", "smartphone"}, {"Tizen", "smartphone"}, {"Windows", "pc"}, {"Mac OS", "pc"}, {"Ubuntu", "pc"},
	{"Fedora", "pc"}, {"Debian", "pc"},
	{"Red Hat", "pc"}, {"SUSE", "pc"}, {"Linux", "pc"}, {"Chrome OS", "pc"}, {"FreeBSD", "pc"}, {"OpenBSD", "pc"},
	{"NetBSD", "pc"}, {"Solaris", "pc"},
}

// agentCategory is pc, smartphone, mobilephone, crawler or appliance, "" when it is unknown.
func agentCategory(client *uaparser.Client, s string) string {
	if client.Device.Family == "Spider" {
		return "crawler"
	}
	for _, name := range []string{"PlayStation", "Nintendo", "Xbox"} {
		if strings.Contains(s, name) {
			return "appliance"
		}
	}
	for _, c := range agentCategories {
		if strings.HasPrefix(client.Os.Family, c.system) {
			return c.category
		}
	}
	return ""
}
