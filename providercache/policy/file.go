package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/locktext"
	"github.com/tfdeps/tfdeps/internal/nesting"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// FileName is the name of a policy's file in a repository.
const FileName = "tfdeps.hcl"

// maxBytes is far more than any policy needs.
const maxBytes = 1 << 19

// signedByHashiCorp stands, in a list of key IDs, for the keys with which HashiCorp signs its own releases.
const signedByHashiCorp = "hashicorp"

// Load reads a policy file. The product says which host an address without one means. A
// file that is missing or can't be read is among the problems. If any problem is an
// error, the Policy must not be used: it may refuse less than its author wants.
func Load(path string, product getproviders.Product) (Policy, hcl.Diagnostics) {
	src, err := wholefile.Read(path, maxBytes)
	if err != nil {
		detail := fmt.Sprintf("The policy can't be read: %v.", err)
		if errors.Is(err, fs.ErrNotExist) {
			detail = fmt.Sprintf("There is no policy at %s.", path)
		}
		return Policy{}, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Failed to read the policy", Detail: detail}}
	}
	return parse(src, path, product)
}

var fileSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "sources"}, {Name: "providers"}, {Name: "minimum_trust"}, {Name: "refuse_downgrades"}, {Name: "lock_platforms"}, {Name: ruleOverrides}, {Name: "advisory"}},
	Blocks: []hcl.BlockHeaderSchema{{Type: ruleAge}, {Type: "signed_by", LabelNames: []string{"provider"}},
		{Type: ruleVersions, LabelNames: []string{"provider"}}, {Type: ruleQuarantine, LabelNames: []string{"provider"}}, {Type: ruleModules}},
}

// parse is [Load] for the content of a file; filename is for messages.
func parse(src []byte, filename string, product getproviders.Product) (Policy, hcl.Diagnostics) {
	if _, deep := nesting.Exceeds(src, false, maxNesting); deep {
		return Policy{}, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Invalid policy", Detail: filename + " is nested too deeply."}}
	}
	file, diags := nesting.Parse(src, filename)
	if diags.HasErrors() {
		return Policy{}, diags
	}
	content, more := file.Body.Content(fileSchema)
	r := reader{product: product.OrDefault(), diags: append(diags, more...)}
	if content == nil {
		return Policy{}, r.diags
	}
	for _, rule := range arguments {
		if attr := content.Attributes[rule.name]; attr != nil {
			rule.read(&r, attr)
		}
	}
	for _, block := range content.Blocks {
		switch block.Type {
		case ruleAge:
			r.minimumAge(block)
		case "signed_by":
			r.signedBy(block)
		case ruleVersions:
			r.versions(block)
		case ruleQuarantine:
			r.quarantine(block)
		case ruleModules:
			r.modulesBlock(block)
		}
	}
	if attr := content.Attributes["advisory"]; attr != nil {
		r.advisory(attr)
	}
	return r.made, r.diags
}

// advisory makes the file's rules report what they would refuse, without refusing it.
func (r *reader) advisory(attr *hcl.Attribute) {
	var on bool
	if r.value(attr, &on); on && len(r.made.platforms)+len(r.made.overrides)+len(r.made.modules) > 0 {
		r.problem(attr.Range, "lock_platforms, allow_overrides and modules aren't rules for packages of providers, and can't be advisory: put them into another file, such as one that TFDEPS_POLICY names.")
	}
	for i := range r.made.rules {
		r.made.rules[i].advisory = on
	}
}

// maxNesting is far more than any policy needs. The parser of HCL is recursive.
const maxNesting = 100

// reader collects the rules and the problems of a file.
type reader struct {
	product getproviders.Product
	made    Policy
	diags   hcl.Diagnostics
}

func (r *reader) add(name string, at hcl.Range, check func(candidate) string) {
	r.made.rules = append(r.made.rules, rule{name: name, check: check, pos: position(at)})
}

func position(at hcl.Range) getproviders.Pos {
	return getproviders.Pos{File: at.Filename, Line: at.Start.Line, Column: at.Start.Column}
}

func (r *reader) problem(at hcl.Range, format string, args ...any) {
	invalid := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid policy", Detail: fmt.Sprintf(format, args...), Subject: &at}
	if at.Start.Line == 0 {
		invalid.Subject, invalid.Detail = nil, fmt.Sprintf("The option %s can't be used: %s", at.Filename, invalid.Detail)
	}
	r.diags = append(r.diags, invalid)
}

// arguments are the rules with one value, in a file or in an option, in the order in which they are asked.
var arguments = []struct {
	name string
	read func(*reader, *hcl.Attribute)
}{
	{ruleSources, (*reader).sources},
	{ruleProviders, func(r *reader, attr *hcl.Attribute) {
		r.add(ruleProviders, attr.Range, allowProviders(r.patterns(attr)))
	}},
	{"minimum_trust", (*reader).minimumTrust},
	{ruleDowngrades, func(r *reader, attr *hcl.Attribute) {
		var on bool
		if r.value(attr, &on); on {
			r.add(ruleDowngrades, attr.Range, refuseDowngrade)
		}
	}},
	{ruleOverrides, func(r *reader, attr *hcl.Attribute) {
		allowed := true
		if r.value(attr, &allowed); !allowed {
			r.made.overrides = append(r.made.overrides, position(attr.Range))
		}
	}},
	{"lock_platforms", (*reader).lockPlatforms},
	{ruleAge, func(r *reader, attr *hcl.Attribute) { r.age(attr, attr.Range, nil) }}, // in a file it is a block
}

// optionText is the value of an argument in an option. It is text, never evaluated.
type optionText struct {
	hcl.Expression
	text string
}

// value decodes an argument into a string, a list of strings or a bool.
func (r *reader) value(attr *hcl.Attribute, into any) bool {
	option, ok := attr.Expr.(optionText)
	if !ok {
		diags := locktext.DecodeExpression(attr.Expr, into)
		r.diags = append(r.diags, diags...)
		return !diags.HasErrors()
	}
	switch into := into.(type) {
	case *string:
		*into = option.text
	case *[]string:
		*into = strings.Split(option.text, ",")
	case *bool:
		on, err := strconv.ParseBool(option.text)
		if err != nil {
			r.problem(attr.Range, "%q is neither \"true\" nor \"false\".", option.text)
			return false
		}
		*into = on
	}
	return true
}

func (r *reader) sources(attr *hcl.Attribute) {
	var sources []string
	if !r.value(attr, &sources) {
		return
	}
	for _, source := range sources {
		u, err := url.Parse(source)
		switch {
		case filepath.IsAbs(source), err == nil && isElsewhere(u):
		case err != nil, strings.ContainsAny(source, " ?#"), u.User != nil, u.Scheme != "" && u.Host == "" && !isHost(source),
			u.Scheme == "" && !isHost(source):
			r.problem(attr.Range, "%q is neither the name of a host, nor a URL without user, query and fragment, nor an absolute path; one of s3 or gs may have the parameter endpoint, which is a URL of http or https.", source)
		}
	}
	r.add(ruleSources, attr.Range, allowSources(sources))
}

// isElsewhere reports whether a URL names a bucket of another service than its scheme's own.
func isElsewhere(u *url.URL) bool {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Scheme != "s3" && u.Scheme != "gs" || u.Host == "" || u.User != nil || u.Fragment != "" || len(query) != 1 || len(query[endpointParameter]) != 1 {
		return false
	}
	at, err := url.Parse(query.Get(endpointParameter))
	return err == nil && (at.Scheme == "http" || at.Scheme == "https") && at.Host != "" && at.User == nil && at.RawQuery == "" && at.Fragment == ""
}

// isHost reports whether a text has the form of a hostname, with or without a port.
func isHost(text string) bool {
	name, port, hasPort := strings.Cut(text, ":")
	isName := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-' }
	return isOnly(name, isName) && (!hasPort || isOnly(port, func(r rune) bool { return '0' <= r && r <= '9' }))
}

// isKeyID reports whether a text is the ID of a key: 16 hexadecimal digits.
func isKeyID(text string) bool {
	return len(text) == 16 && isOnly(text, func(r rune) bool { return '0' <= r && r <= '9' || 'A' <= r && r <= 'F' })
}

// isOnly reports whether a text has at least one rune, and all runes are of a kind.
func isOnly(text string, kind func(rune) bool) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !kind(r) })
}

func (r *reader) patterns(attr *hcl.Attribute) (patterns []getproviders.Pattern) {
	var given []string
	if !r.value(attr, &given) {
		return nil
	}
	for _, text := range given {
		pattern, err := r.product.ParsePattern(text)
		if err != nil {
			r.problem(attr.Range, "%q names no providers: %v.", text, err)
			continue
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// trustLevels are the levels that a policy may require.
var trustLevels = map[string]getproviders.TrustLevel{
	"verified_checksum": getproviders.LevelVerifiedChecksum,
	"community":         getproviders.LevelCommunity,
	"partner":           getproviders.LevelPartner,
	"official":          getproviders.LevelOfficial,
}

func (r *reader) minimumTrust(attr *hcl.Attribute) {
	var given string
	if !r.value(attr, &given) {
		return
	}
	level, ok := trustLevels[given]
	if !ok {
		r.problem(attr.Range, "minimum_trust is %q, and has to be \"verified_checksum\", \"community\", \"partner\" or \"official\".", given)
		return
	}
	r.add("minimum_trust", attr.Range, requireTrust(level))
}

var ageSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "age", Required: true}, {Name: "except"}}}

func (r *reader) minimumAge(block *hcl.Block) {
	content, diags := block.Body.Content(ageSchema)
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		return
	}
	var except []getproviders.Pattern
	if attr := content.Attributes["except"]; attr != nil {
		except = r.patterns(attr)
	}
	r.age(content.Attributes["age"], block.DefRange, except)
}

func (r *reader) age(attr *hcl.Attribute, at hcl.Range, except []getproviders.Pattern) {
	var given string
	if !r.value(attr, &given) {
		return
	}
	age, err := time.ParseDuration(given)
	if err != nil || age <= 0 {
		r.problem(attr.Range, "%q is not a time such as \"72h\".", given)
		return
	}
	r.add(ruleAge, at, requireAge(age, except))
}

var keysSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "keys", Required: true}}}

// labelled returns the providers that a block is about, and its arguments.
func (r *reader) labelled(block *hcl.Block, schema *hcl.BodySchema) (pattern getproviders.Pattern, args hcl.Attributes, ok bool) {
	pattern, err := r.product.ParsePattern(block.Labels[0])
	if err != nil {
		r.problem(block.LabelRanges[0], "%q names no providers: %v.", block.Labels[0], err)
		return pattern, nil, false
	}
	content, diags := block.Body.Content(schema)
	r.diags = append(r.diags, diags...)
	return pattern, content.Attributes, !diags.HasErrors()
}

func (r *reader) signedBy(block *hcl.Block) {
	pattern, args, ok := r.labelled(block, keysSchema)
	if !ok {
		return
	}
	attr := args["keys"]
	var keys []string
	if !r.value(attr, &keys) {
		return
	}
	for i, key := range keys {
		if key == signedByHashiCorp {
			continue
		}
		keys[i] = strings.ToUpper(strings.TrimPrefix(key, "0x"))
		if !isKeyID(keys[i]) {
			r.problem(attr.Range, "%q is not the ID of a key, which has 16 hexadecimal digits, and not %q.", key, signedByHashiCorp)
		}
	}
	r.add("signed_by", block.DefRange, requireKeys(pattern, keys))
}

var versionsSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "allow", Required: true}}}

func (r *reader) versions(block *hcl.Block) {
	pattern, args, ok := r.labelled(block, versionsSchema)
	var given string
	if !ok || !r.value(args["allow"], &given) {
		return
	}
	allowed, err := getproviders.ParseConstraints(given)
	if err != nil {
		r.problem(args["allow"].Range, "%v.", err)
		return
	}
	r.add(ruleVersions, block.DefRange, allowVersions(pattern, allowed))
}

var quarantineSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "versions", Required: true}, {Name: "reason", Required: true}, {Name: "until"}}}

func (r *reader) quarantine(block *hcl.Block) {
	pattern, args, ok := r.labelled(block, quarantineSchema)
	var given []string
	var reason, until string
	if !ok || !r.value(args["versions"], &given) || !r.value(args["reason"], &reason) || args["until"] != nil && !r.value(args["until"], &until) {
		return
	}

	var kept []getproviders.Version
	for _, text := range given {
		version, err := getproviders.ParseVersion(text)
		if err != nil {
			r.problem(args["versions"].Range, "%v.", err)
		}
		kept = append(kept, version)
	}

	var ends time.Time
	if until != "" {
		last, err := time.Parse(time.DateOnly, until)
		if err != nil {
			r.problem(args["until"].Range, "%q is not a day such as \"2026-12-31\".", until)
		}
		ends = last.AddDate(0, 0, 1)
		reason = "until " + until + ": " + reason
	}
	r.add(ruleQuarantine, block.DefRange, keepBack(pattern, kept, ends, reason))
}
