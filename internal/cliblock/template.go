package cliblock

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// RepositoryTemplate gives the OCI repository of a provider's packages:
// "registry.example.com/providers/${namespace}/${type}". Make one with [ParseRepositoryTemplate].
type RepositoryTemplate struct{ parts []templatePart }

// templatePart is a literal text or a variable.
type templatePart struct{ text, variable string }

// ParseRepositoryTemplate parses a template. It must contain each part of an address in which the providers of include
// differ; otherwise several providers would share a repository. An address has no user: a text with an "@" is refused,
// and the error doesn't repeat it. Of HCL's template syntax, it knows what OpenTofu documents: ${hostname},
// ${namespace}, ${type}.
func ParseRepositoryTemplate(text string, include []getproviders.Pattern) (RepositoryTemplate, error) {
	var t RepositoryTemplate
	if strings.Contains(text, "@") { // a password may precede it, so the text isn't shown
		return t, errors.New("the template has an @, and an address of an OCI repository has neither a user nor a password")
	}
	if strings.Contains(text, "%{") {
		return t, fmt.Errorf("the template %q has %%{, and only ${hostname}, ${namespace} and ${type} are known here", text)
	}
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "${")
		if literal, escaped := strings.CutSuffix(before, "$"); found && escaped {
			t.parts, rest = append(t.parts, templatePart{text: literal + "${"}), after
			continue
		}
		t.parts = append(t.parts, templatePart{text: before})
		if !found {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		name = strings.TrimSpace(name)
		if !closed || !slices.Contains([]string{"hostname", "namespace", "type"}, name) {
			return t, fmt.Errorf("the template %q has ${%.40s}, and only ${hostname}, ${namespace} and ${type} are known here", text, name)
		}
		t.parts, rest = append(t.parts, templatePart{variable: name}), behind
	}
	for _, variable := range []string{"hostname", "namespace", "type"} {
		if !slices.ContainsFunc(t.parts, func(p templatePart) bool { return p.variable == variable }) && !fixes(include, variable) {
			return t, fmt.Errorf("the template %q lacks ${%s}: each provider has a repository of its own, as in HOST/PATH/${namespace}/${type}. A part may only be left out if include names exactly one", text, variable)
		}
	}
	example, err := getproviders.OpenTofu("").ParseProvider("example.com/example-namespace/example-type")
	if err != nil {
		return t, err
	}
	host, name, _ := strings.Cut(t.Address(example), "/")
	if host == "" || strings.HasSuffix(host, ":") || strings.Contains("/"+name+"/", "//") || strings.Count(host, ":") > 1 || strings.Contains(host, " ") || strings.ContainsAny(name, ": ") {
		return t, fmt.Errorf("the template %q doesn't make the address of an OCI repository, which is a host, a slash and a name", text)
	}
	return t, nil
}

// fixes reports whether patterns allow only one value for a part of an address.
func fixes(include []getproviders.Pattern, variable string) bool {
	var seen []string
	for _, pattern := range include {
		part := map[string]string{"hostname": pattern.Hostname.String(), "namespace": pattern.Namespace, "type": pattern.Type}[variable]
		if part != "*" && !slices.Contains(seen, part) {
			seen = append(seen, part)
		}
	}
	return len(seen) == 1
}

// Address returns the address of the repository of a provider: "HOST/NAME".
func (t RepositoryTemplate) Address(p getproviders.Provider) string {
	var text strings.Builder
	for _, part := range t.parts {
		switch part.variable {
		case "hostname":
			text.WriteString(p.Hostname.String())
		case "namespace":
			text.WriteString(p.Namespace)
		case "type":
			text.WriteString(p.Type)
		default:
			text.WriteString(part.text)
		}
	}
	return text.String()
}
