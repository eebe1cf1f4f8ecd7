package cliconfig

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
)

// Summaries of problems with provider_installation, as in Terraform.
const (
	badInstallation = "Invalid provider_installation block"
	badMethod       = "Invalid provider_installation method block"
	badInclude      = "Invalid provider source inclusion patterns"
	badExclude      = "Invalid provider source exclusion patterns"
	badURL          = "Invalid URL for provider installation source"
)

// installation reads
//
//	provider_installation {
//	  filesystem_mirror {
//	    path    = "/usr/share/terraform/providers"
//	    include = ["example.com/*/*"]
//	  }
//	  direct {
//	    exclude = ["example.com/*/*"]
//	  }
//	}
func (r *reader) installation(f field) {
	if r.config.Installation == nil {
		r.config.Installation = []Method{}
	}
	if f.labels > 0 {
		r.report(badInstallation, f.line, "The provider_installation block can't have labels.")
		return
	}
	blocks, ok := f.value.blocks()
	if f.equals || !ok || len(blocks) == 0 {
		r.report(badInstallation, f.line, "The provider_installation entry must be a block, as in: provider_installation { ... }.")
		return
	}
	for _, block := range blocks {
		if r.installations++; r.installations == 2 {
			r.report("No more than one provider_installation block may be specified", block.line,
				"There is another provider_installation block before this one, maybe in another file. Put all methods into one, in the order that you want.")
		}
		r.methods(block.object)
	}
}

// methods reads the inside of a provider_installation block.
func (r *reader) methods(fields []field) {
	others := false
	for _, f := range fields {
		if f.labels > 0 {
			r.report(badMethod, f.line, "The blocks inside provider_installation can't have labels, but %s has.", f.name)
			continue
		}
		blocks, ok := f.value.blocks()
		if f.equals || !ok || len(blocks) == 0 {
			r.report(badMethod, f.line, "The provider_installation block must contain blocks, as in: direct { ... }. Here, %s isn't one.", f.name)
			continue
		}
		if !f.is("dev_overrides") {
			others = true
		} else if others {
			r.report(badMethod, f.line, "The dev_overrides block must be before all other methods, because it takes precedence.")
			continue
		}
		for _, block := range blocks {
			r.method(f, block)
		}
	}
}

func (r *reader) method(f field, block value) {
	m := Method{File: r.file, Line: f.line}
	for kind := Direct; kind <= OCIMirror; kind++ {
		if f.is(kind.String()) && (kind != OCIMirror || r.product.Understands("oci")) {
			m.Kind = kind
		}
	}
	needs := methodKinds[m.Kind].needs
	switch {
	case f.is("dev_overrides"):
		r.setting("dev_overrides", "", f.line)
		r.devOverrides(block.object)
		return
	case m.Kind == 0:
		r.report(badMethod, f.line, "There is no installation method called %q; the methods are direct, filesystem_mirror, network_mirror and dev_overrides.%s", f.name,
			meant(f, []string{"direct", "filesystem_mirror", "network_mirror", "dev_overrides"}))
		return
	}
	before := r.own.errors
	for _, arg := range block.object {
		r.argument(&m, needs, arg)
	}
	if needs != "" && m.Location == "" && r.own.errors == before {
		r.report(badMethod, f.line, "A %s block needs the argument %q.", m.Kind, needs)
	}
	if m.Kind == OCIMirror && r.own.errors == before {
		var err error
		if m.Template, err = cliblock.ParseRepositoryTemplate(m.Location, m.Include); err != nil {
			r.report(badTemplate, f.line, "An oci_mirror block can't be used: %v.", err)
		}
	}
	if r.own.errors == before {
		r.config.Installation = append(r.config.Installation, m)
		r.setting(m.Kind.String(), "", m.Line)
	}
}

// arguments returns the arguments of a method in any product.
func (m *Method) arguments(location string) []string {
	known := []string{"include", "exclude", "download_retry_count", "trust_all_hashes", location}
	switch m.Kind {
	case NetworkMirror:
		return known
	case Direct:
		return known[:3]
	}
	return []string{"include", "exclude", location}
}

// argument reads one argument of a method. Repeated lists are concatenated.
func (r *reader) argument(m *Method, location string, arg field) {
	switch {
	case arg.is("include"):
		m.Include = append(m.Include, r.patterns(m.Kind, badInclude, arg)...)
	case arg.is("exclude"):
		m.Exclude = append(m.Exclude, r.patterns(m.Kind, badExclude, arg)...)
	case location != "" && arg.is(location):
		r.location(m, arg)
	case !slices.Contains(m.arguments(location), strings.ToLower(arg.name)):
		r.unknown(arg, m.Kind.String(), m.arguments(location))
	case !r.product.Understands(strings.ToLower(arg.name)): // the argument is the other product's
	case arg.is("download_retry_count"):
		r.retries(m, arg)
	case arg.is("trust_all_hashes"):
		if m.trustAll = arg.value.text == "true"; arg.value.kind != isBool && arg.value.kind != isString || !m.trustAll && arg.value.text != "false" {
			r.report(badMethod, arg.line, "The trust_all_hashes of a %s block must be true or false.", m.Kind)
		}
	}
}

// retries reads how often a download is tried again.
func (r *reader) retries(m *Method, arg field) {
	text, _ := arg.value.words()
	count, err := strconv.Atoi(text)
	if err != nil || count < 0 {
		r.report(badMethod, arg.line, "The download_retry_count of a %s block must be a whole number, 0 or more.", m.Kind)
		return
	}
	m.retries = &count
}

func (r *reader) location(m *Method, arg field) {
	text, ok := arg.value.words()
	switch {
	case arg.value.kind == isNull:
	case !ok:
		r.report(badMethod, arg.line, "The %s of a %s block must be a string, but it is %s.", strings.ToLower(arg.name), m.Kind, arg.value.kind)
	case m.Kind == NetworkMirror && text != "":
		if _, err := getproviders.NewNetworkMirrorSource(text, nil, nil, r.product.Product); err != nil {
			r.report(badURL, arg.line, "The url of a network_mirror block can't be used: %v.", err)
			return
		}
		m.Location = text
	default:
		m.Location = text
	}
}

func (r *reader) patterns(kind MethodKind, summary string, arg field) []getproviders.Pattern {
	texts, ok := arg.value.listOfWords()
	if !ok {
		r.report(badMethod, arg.line, "The %s of a %s block must be a list of strings.", strings.ToLower(arg.name), kind)
		return nil
	}
	var patterns []getproviders.Pattern
	for i, text := range texts {
		pattern, err := r.product.ParsePattern(text)
		if err != nil {
			r.report(summary, arg.value.list[i].line, "In a %s block: %v.", kind, err)
			continue
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// devOverrides reads the inside of
//
//	dev_overrides {
//	  "example.com/acme/aaa" = "$HOME/src/terraform-provider-aaa/bin"
//	}
//
// The keys are source addresses in all their forms. The last of several entries for a provider
// counts.
func (r *reader) devOverrides(entries []field) {
	for _, f := range entries {
		p, err := r.product.ParseProvider(f.name)
		if err != nil {
			r.report("Invalid provider installation dev overrides", f.line, "The entry %q has no valid provider source address: %v", f.name, err)
			continue
		}
		dir, ok := f.value.words()
		if !ok {
			r.report(badMethod, f.line, "The directory of %q in dev_overrides must be a string, but it is %s.", f.name, f.value.kind)
			continue
		}
		r.config.DevOverrides[p] = filepath.Clean(r.expand(f.line, dir))
	}
}

// expand replaces $NAME and ${NAME}. An unset or empty variable is a problem, because the path
// would mean another directory.
func (r *reader) expand(line int, text string) string {
	return os.Expand(text, func(name string) string {
		set := r.env(name)
		if set == "" {
			r.report("Interpolated environment variable not set", line,
				"The environment variable %s is not set or empty, so the path %q would mean another directory.", name, text)
		}
		return set
	})
}
