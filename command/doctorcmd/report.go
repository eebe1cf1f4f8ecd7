package doctorcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// configFile is a file of the CLI configuration, which may not exist.
type configFile struct {
	Path     string      `json:"path"`
	Exists   bool        `json:"exists"`
	Settings []statement `json:"settings"` // not nil
}

// statement is a statement of a file.
type statement struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"` // of the block
	Line  int    `json:"line"`
}

// shownSource is a source of providers.
type shownSource struct {
	Kind     string   `json:"kind"` // "direct", "filesystem_mirror", "network_mirror", "oci_mirror", or "mirror" of -mirror
	Location string   `json:"location,omitempty"`
	Include  []string `json:"include,omitempty"`
	Exclude  []string `json:"exclude,omitempty"`
	NamedBy  string   `json:"named_by,omitempty"` // file and line; "" for a default
}

// reply is the answer of a registry or a mirror.
type reply struct {
	Kind     string            `json:"kind"` // "registry", "network_mirror", "oci_mirror", or "mirror" of -mirror
	Host     string            `json:"host"` // the URL of a mirror
	Proxy    string            `json:"proxy,omitempty"`
	Services map[string]string `json:"services,omitempty"` // of a registry: URLs
	Provider string            `json:"provider,omitempty"` // whose versions were asked for
	Versions int               `json:"versions,omitempty"` // their number
	OK       bool              `json:"ok"`
	Asked    bool              `json:"asked"`
	Error    string            `json:"error,omitempty"`
	Code     string            `json:"code,omitempty"` // of the error
	Took     int64             `json:"took_ms"`        // milliseconds
}

// setting is a variable, and the result of its check.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // without user and password
	Found string `json:"found,omitempty"`
}

// shownToken is the place of a host's token, without the token.
type shownToken struct {
	Host string `json:"host"`
	From string `json:"from"` // a variable, or a file and line
	For  string `json:"for"`  // "registry" or "packages"
}

// sharedCache is the shared cache.
type sharedCache struct {
	Directory  string `json:"directory"` // "" without one
	NamedBy    string `json:"named_by"`
	Exists     bool   `json:"exists"`
	Usable     bool   `json:"usable"`
	Packages   int    `json:"packages"`
	Size       int64  `json:"size"`
	OnDisk     int64  `json:"size_on_disk"`
	Free       *int64 `json:"free,omitempty"` // nil if unknown
	FileSystem string `json:"file_system,omitempty"`
	KeepsTimes bool   `json:"keeps_times"`
	Link       string `json:"link,omitempty"`         // "symlink", "clone", "hardlink", "copy"
	LinkReason string `json:"link_reason,omitempty"`  // why not a better one
	Exposed    string `json:"exposed,omitempty"`      // a directory in which other users can replace files
	Receipts   string `json:"receipts,omitempty"`     // their directory; "" means that none are kept
	Others     int    `json:"packages_not_exclusive"` // packages that other users can change
}

// shownProgram is a program of a product.
type shownProgram struct {
	Program string `json:"program"` // "terraform"
	Path    string `json:"path"`    // "" without one
	Version string `json:"version,omitempty"`
	IsOwn   bool   `json:"is_tfdeps"`
	Error   string `json:"error,omitempty"`
}

// policyFile is a file with rules.
type policyFile struct {
	Path string `json:"path"`
	OK   bool   `json:"ok"`
}

// told returns the report. Its text has no problems, which are printed separately.
func (x *examination) told() *result.Result {
	return &result.Result{People: x.text(), Programs: result.Object{
		"tfdeps_version", x.Meta.Version, "product", result.Object{"name", x.Product.Name, "version", x.Product.Version, "because", x.because},
		"platform", getproviders.CurrentPlatform(), "directory", x.Meta.Dir, "cli_configuration", x.files,
		"sources", x.sources, "hosts", x.answers, "network", x.network, "tokens", x.tokens, "cache", x.cache,
		"programs", x.programs, "policies", x.policies, "healthy", !x.Log.All.HasErrors(),
	}}
}

func (x *examination) text() string {
	p := page{color: x.color}
	p.text.WriteString(terminal.PrintableLine(fmt.Sprintf("tfdeps %s on %s does the work of %s %s (%s).", x.Meta.Version, getproviders.CurrentPlatform(), x.Product.Name, x.Product.Version, x.because)) + "\n")
	x.writeConfig(&p)
	x.writeHosts(&p)
	x.writeCache(&p)
	x.writeMachine(&p)
	p.text.WriteString("\n" + x.summary(&p) + "\n")
	return p.text.String()
}

// summary returns the last line.
func (x *examination) summary(p *page) string {
	warnings, errors := x.Log.Split()
	text, esc, warned := terminal.Count(len(errors), "problem"), terminal.Red, terminal.Count(len(warnings), "warning")
	switch {
	case len(x.Log.All) == 0:
		text, esc = "No problems found", terminal.Green
	case len(errors) == 0:
		text, esc = warned, terminal.Yellow
	case len(warnings) > 0:
		text += " and " + warned
	}
	return p.paint(text+".", esc)
}

func (x *examination) writeConfig(p *page) {
	p.section("CLI configuration", "none", len(x.files))
	for _, file := range x.files {
		if !file.Exists {
			p.line(file.Path + " (doesn't exist)")
			continue
		}
		p.line(file.Path)
		for _, s := range file.Settings {
			text := s.Name
			if s.Label != "" {
				text += fmt.Sprintf(" %q", s.Label)
			}
			p.line(fmt.Sprintf("  line %d: %s", s.Line, text))
		}
	}
	p.section("Where providers come from", "nowhere: the provider_installation block is empty", len(x.sources))
	for i, s := range x.sources {
		text := fmt.Sprintf("%d. %s", i+1, s.Kind)
		if s.Location != "" {
			text += " " + s.Location
		}
		if len(s.Include) > 0 {
			text += ", for " + strings.Join(s.Include, " ")
		}
		if len(s.Exclude) > 0 {
			text += ", not for " + strings.Join(s.Exclude, " ")
		}
		if s.NamedBy != "" {
			text += " (" + s.NamedBy + ")"
		}
		p.line(text)
	}
}

func (x *examination) writeHosts(p *page) {
	p.section("Registries and mirrors", "none", len(x.answers))
	for _, h := range x.answers {
		p.marked(h.mark(), strings.ReplaceAll(h.Kind, "_", " ")+" "+h.Host)
		for _, detail := range h.details() {
			p.line("        " + detail)
		}
	}
	p.section("Proxy and certificates", "no proxy, and the certificates of the system", len(x.network))
	p.table(result.Each(x.network, func(s setting) []string {
		if s.Found != "" {
			s.Value += ": " + s.Found
		}
		return []string{s.Name, s.Value}
	}))
	p.section("Tokens", "none", len(x.tokens))
	p.table(result.Each(x.tokens, func(t shownToken) []string {
		if t.For == "packages" {
			t.From += " (for packages)"
		}
		return []string{t.Host, t.From}
	}))
}

func (h reply) mark() string {
	switch {
	case !h.Asked:
		return "not asked"
	case h.OK:
		return "ok"
	default:
		return "failed"
	}
}

// details returns the lines below a host.
func (h reply) details() (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(h.Services)) {
		lines = append(lines, name+" at "+h.Services[name])
	}
	if h.Proxy != "" {
		lines = append(lines, "through the proxy "+h.Proxy)
	}
	switch {
	case h.Provider != "" && h.Versions > 0:
		lines = append(lines, fmt.Sprintf("%s: %s", h.Provider, terminal.Count(h.Versions, "version")))
	case h.Provider != "" && h.OK:
		lines = append(lines, h.Provider+": not there")
	}
	if h.Code != "" {
		lines = append(lines, strings.ReplaceAll(h.Code, "_", " "))
	}
	if h.OK {
		lines = append(lines, fmt.Sprintf("answered in %d ms", h.Took))
	}
	return lines
}

func (x *examination) writeCache(p *page) {
	c := x.cache
	if p.section("Shared cache", "none", len(c.Directory)); c.Directory == "" {
		return
	}
	rows := [][]string{{"directory", c.Directory + c.state()}, {"named by", c.NamedBy}}
	if c.Exists {
		rows = append(rows, []string{"packages", fmt.Sprintf("%d: %s, %s on disk", c.Packages, terminal.Megabytes(c.Size), terminal.Megabytes(c.OnDisk))})
	}
	if c.Free != nil {
		rows = append(rows, []string{"free space", terminal.Megabytes(*c.Free)})
	}
	if c.FileSystem != "" {
		rows = append(rows, []string{"file system", c.FileSystem + c.times()})
	}
	if c.Link != "" {
		rows = append(rows, []string{"links", c.links()})
	}
	p.table(append(rows, []string{"trust", c.trust()}))
}

func (c sharedCache) state() string {
	switch {
	case !c.Usable:
		return " (not used)"
	case !c.Exists:
		return " (doesn't exist yet)"
	default:
		return ""
	}
}

func (c sharedCache) times() string {
	if c.KeepsTimes {
		return ""
	}
	return ", whose file times tfdeps doesn't trust: each use of a package reads all of it"
}

func (c sharedCache) links() string {
	text := map[string]string{
		"symlink": "symbolic links, as Terraform makes them", "clone": "clones, which take no space",
		"hardlink": "hard links, which take no space", "copy": "copies",
	}[c.Link]
	if c.LinkReason != "" {
		text += ", because " + c.LinkReason
	}
	return text
}

// trust says what the cache's owners and permissions mean for receipts.
func (c sharedCache) trust() string {
	switch {
	case c.Receipts == "":
		return "no receipts are kept: each use of a package reads all of it"
	case c.Exposed != "":
		return "other users can replace files in " + c.Exposed + ": each use of a package reads all of it"
	case c.Others > 0:
		verb := "are"
		if c.Others == 1 {
			verb = "is"
		}
		return fmt.Sprintf("%s can be changed by other users, and %s read at each use", terminal.Count(c.Others, "package"), verb)
	default:
		return "only you and root can change it; receipts are in " + c.Receipts
	}
}

func (x *examination) writeMachine(p *page) {
	p.section("Programs", "", len(x.programs))
	p.table(result.Each(x.programs, func(g shownProgram) []string {
		switch {
		case g.Path == "":
			g.Path = "not found on PATH"
		case g.IsOwn:
			g.Path += " (tfdeps)"
		case g.Error != "":
			g.Path += " (doesn't tell its version)"
		default:
			g.Program += " " + g.Version
		}
		return []string{g.Program, g.Path}
	}))
	p.section("Policy files", "none", len(x.policies))
	for _, f := range x.policies {
		mark := "ok"
		if !f.OK {
			mark = "failed"
		}
		p.marked(mark, f.Path)
	}
}

// page is the text of a report.
type page struct {
	text  strings.Builder
	color bool
}

// section writes a heading, and a line if there are no items.
func (p *page) section(name, none string, items int) {
	p.text.WriteString("\n" + p.paint(name, terminal.Bold) + "\n")
	if items == 0 && none != "" {
		p.line(none)
	}
}

func (p *page) line(text string) {
	p.text.WriteString("  " + terminal.PrintableLine(text) + "\n")
}

// marked writes a line that begins with a mark such as "ok".
func (p *page) marked(mark, text string) {
	esc := map[string]string{"ok": terminal.Green, "failed": terminal.Red}[mark]
	fmt.Fprintf(&p.text, "  %s%s%s\n", p.paint(mark, esc), strings.Repeat(" ", max(1, 8-len(mark))), terminal.PrintableLine(text))
}

func (p *page) paint(text, esc string) string {
	if !p.color || esc == "" {
		return text
	}
	return esc + text + terminal.Reset
}

// table writes rows of a name and a value.
func (p *page) table(rows [][]string) {
	for l := range strings.Lines(result.Table(rows)) {
		p.text.WriteString("  " + l)
	}
}
