package hosts

import (
	"strings"

	"golang.org/x/net/idna"
)

// EnvTokens returns the tokens of variables such as
// TF_TOKEN_registry_example_com in an environment like that of os.Environ.
//
// What follows the prefix is the hostname, in Unicode or punycode; two
// underscores in a row stand for a dash, then each one left for a dot, and
// dashes and dots may stand for themselves. A port is possible where the
// name of a variable can hold a colon: TF_TOKEN_localhost:8443. A variable whose
// name doesn't make a hostname is ignored. The last of several for one host
// counts.
//
// A variable that is set to nothing makes its host known with the token "":
// this is the way to go without the token that a file or a helper has. The real
// tool sends an Authorization header with an empty token then, which no
// server can accept.
func EnvTokens(environ []string) *StaticTokens {
	tokens := map[Hostname]string{}
	for _, entry := range environ {
		name, token, _ := strings.Cut(entry, "=")
		suffix, ok := strings.CutPrefix(name, tokenVariablePrefix)
		if !ok {
			continue
		}
		if host, ok := hostOfVariable(suffix); ok {
			tokens[host] = token
		}
	}
	return NewStaticTokens(tokens)
}

const tokenVariablePrefix = "TF_TOKEN_"

// hostOfVariable undoes what TokenVariable does, and what people do instead.
func hostOfVariable(suffix string) (Hostname, bool) {
	name := strings.ReplaceAll(strings.ReplaceAll(suffix, "__", "-"), "_", ".")
	name, port, hasPort := strings.Cut(name, ":")
	// Only here is punycode welcome: other systems than ours may have set the
	// variable, and it says nothing that people would have to read.
	name, err := idna.Display.ToUnicode(name)
	if err != nil {
		return "", false
	}
	if hasPort {
		name += ":" + port
	}
	host, err := ParseHostname(name)
	return host, err == nil
}
