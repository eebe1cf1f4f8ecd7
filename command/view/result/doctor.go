package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/terminal"
)

// Doctor is what "doctor" tells: what is in effect in a directory, and what is wrong with it. None of its
// texts holds a secret.
type Doctor struct {
	Version   string
	Product   DoctorProduct
	Platform  string
	Directory string
	Config    []DoctorFile
	Sources   []DoctorSource
	Hosts     []DoctorHost
	Network   []DoctorSetting // the proxy and the certificates
	Tokens    []DoctorToken
	Cache     DoctorCache
	Programs  []DoctorProgram
	Policies  []DoctorPolicy

	Problems problem.List
	Color    bool // for people
}

// DoctorProduct is the product whose work tfdeps does.
type DoctorProduct struct {
	Name    string `json:"name"` // "Terraform"
	Version string `json:"version"`
	Because string `json:"because"` // what decides on it: a variable, or that nothing says otherwise
}

// DoctorFile is a file of the CLI configuration, or a place where one would be.
type DoctorFile struct {
	Path     string              `json:"path"`
	Exists   bool                `json:"exists"`
	Settings []DoctorConfigEntry `json:"settings"` // not nil
}

// DoctorConfigEntry is a statement of a file.
type DoctorConfigEntry struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"` // of the block
	Line  int    `json:"line"`
}

// DoctorSource is a place that providers come from.
type DoctorSource struct {
	Kind     string   `json:"kind"` // "direct", "filesystem_mirror", "network_mirror", "oci_mirror", or "mirror" of -mirror
	Location string   `json:"location,omitempty"`
	Include  []string `json:"include,omitempty"`
	Exclude  []string `json:"exclude,omitempty"`
	NamedBy  string   `json:"named_by,omitempty"` // file and line; "": nothing names it
}

// DoctorHost is a registry or a mirror, and what it answered.
type DoctorHost struct {
	Kind     string            `json:"kind"` // "registry", "network_mirror", "oci_mirror", or "mirror" of -mirror
	Host     string            `json:"host"` // of a mirror, its URL
	Proxy    string            `json:"proxy,omitempty"`
	Services map[string]string `json:"services,omitempty"` // of a registry: URLs
	Provider string            `json:"provider,omitempty"` // whose versions were asked for
	Versions int               `json:"versions,omitempty"` // how many there are
	OK       bool              `json:"ok"`
	Asked    bool              `json:"asked"`
	Error    string            `json:"error,omitempty"`
	Code     string            `json:"code,omitempty"` // of the error
	Took     int64             `json:"took_ms"`        // milliseconds
}

// DoctorSetting is a variable, and what came of it.
type DoctorSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // without user and password
	Found string `json:"found,omitempty"`
}

// DoctorToken says where a host's token is, and not what it is.
type DoctorToken struct {
	Host string `json:"host"`
	From string `json:"from"` // a variable, or a file and line
	For  string `json:"for"`  // "registry" or "packages"
}

// DoctorCache is the shared cache.
type DoctorCache struct {
	Directory  string `json:"directory"` // "": there is none
	NamedBy    string `json:"named_by"`
	Exists     bool   `json:"exists"`
	Usable     bool   `json:"usable"`
	Packages   int    `json:"packages"`
	Size       int64  `json:"size"`
	OnDisk     int64  `json:"size_on_disk"`
	Free       *int64 `json:"free,omitempty"` // nil: not known
	FileSystem string `json:"file_system,omitempty"`
	KeepsTimes bool   `json:"keeps_times"`
	Link       string `json:"link,omitempty"`         // "symlink", "clone", "hardlink", "copy"
	LinkReason string `json:"link_reason,omitempty"`  // why not a better one
	Exposed    string `json:"exposed,omitempty"`      // a directory in which others can exchange what is there
	Receipts   string `json:"receipts,omitempty"`     // where they are; "": none are kept
	Others     int    `json:"packages_not_exclusive"` // packages that others can change
}

// DoctorProgram is a program of a product.
type DoctorProgram struct {
	Program string `json:"program"` // "terraform"
	Path    string `json:"path"`    // "": there is none
	Version string `json:"version,omitempty"`
	IsOwn   bool   `json:"is_tfdeps"`
	Error   string `json:"error,omitempty"`
}

// DoctorPolicy is a file with rules.
type DoctorPolicy struct {
	Path string `json:"path"`
	OK   bool   `json:"ok"`
}

// JSON is the report for programs.
func (d Doctor) JSON() any {
	return Object{
		"tfdeps_version", d.Version, "product", d.Product, "platform", d.Platform, "directory", d.Directory, "cli_configuration", d.Config,
		"sources", d.Sources, "hosts", d.Hosts, "network", d.Network, "tokens", d.Tokens, "cache", d.Cache,
		"programs", d.Programs, "policies", d.Policies, "healthy", !d.Problems.HasErrors(),
	}
}

// Text writes the report for people, without the problems.
func (d Doctor) Text() string {
	p := doctorPage{color: d.Color}
	p.text.WriteString(terminal.PrintableLine(fmt.Sprintf("tfdeps %s on %s does the work of %s %s (%s).", d.Version, d.Platform, d.Product.Name, d.Product.Version, d.Product.Because)) + "\n")
	d.writeConfig(&p)
	d.writeHosts(&p)
	d.writeCache(&p)
	d.writeMachine(&p)
	p.text.WriteString("\n" + d.summary(&p) + "\n")
	return p.text.String()
}

// summary is the last line.
func (d Doctor) summary(p *doctorPage) string {
	warnings, errors := (&problem.Log{All: d.Problems}).Split()
	text, esc, warned := terminal.Count(len(errors), "problem"), terminal.Red, terminal.Count(len(warnings), "warning")
	switch {
	case len(d.Problems) == 0:
		text, esc = "No problems found", terminal.Green
	case len(errors) == 0:
		text, esc = warned, terminal.Yellow
	case len(warnings) > 0:
		text += " and " + warned
	}
	return p.paint(text+".", esc)
}

func (d Doctor) writeConfig(p *doctorPage) {
	p.section("CLI configuration", "none", len(d.Config))
	for _, file := range d.Config {
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
	p.section("Where providers come from", "nowhere: the provider_installation block is empty", len(d.Sources))
	for i, s := range d.Sources {
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

func (d Doctor) writeHosts(p *doctorPage) {
	p.section("Registries and mirrors", "none", len(d.Hosts))
	for _, h := range d.Hosts {
		p.marked(h.mark(), strings.ReplaceAll(h.Kind, "_", " ")+" "+h.Host)
		for _, detail := range h.details() {
			p.line("        " + detail)
		}
	}
	p.section("Proxy and certificates", "no proxy, and the certificates of the system", len(d.Network))
	p.table(Each(d.Network, func(s DoctorSetting) []string {
		if s.Found != "" {
			s.Value += ": " + s.Found
		}
		return []string{s.Name, s.Value}
	}))
	p.section("Tokens", "none", len(d.Tokens))
	p.table(Each(d.Tokens, func(t DoctorToken) []string {
		if t.For == "packages" {
			t.From += " (for packages)"
		}
		return []string{t.Host, t.From}
	}))
}

func (h DoctorHost) mark() string {
	switch {
	case !h.Asked:
		return "not asked"
	case h.OK:
		return "ok"
	default:
		return "failed"
	}
}

// details are the lines below a host.
func (h DoctorHost) details() (lines []string) {
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

func (d Doctor) writeCache(p *doctorPage) {
	c := d.Cache
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

func (c DoctorCache) state() string {
	switch {
	case !c.Usable:
		return " (not used)"
	case !c.Exists:
		return " (doesn't exist yet)"
	default:
		return ""
	}
}

func (c DoctorCache) times() string {
	if c.KeepsTimes {
		return ""
	}
	return ", on whose times tfdeps doesn't rely: each use of a package reads all of it"
}

func (c DoctorCache) links() string {
	text := map[string]string{
		"symlink": "symbolic links, as Terraform makes them", "clone": "clones, which take no space",
		"hardlink": "hard links, which take no space", "copy": "copies",
	}[c.Link]
	if c.LinkReason != "" {
		text += ", because " + c.LinkReason
	}
	return text
}

// trust says what the rule for receipts makes of the owners and permissions.
func (c DoctorCache) trust() string {
	switch {
	case c.Receipts == "":
		return "no receipts are kept: each use of a package reads all of it"
	case c.Exposed != "":
		return "other users can exchange what is in " + c.Exposed + ": each use of a package reads all of it"
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

func (d Doctor) writeMachine(p *doctorPage) {
	p.section("Programs", "", len(d.Programs))
	p.table(Each(d.Programs, func(g DoctorProgram) []string {
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
	p.section("Policy files", "none", len(d.Policies))
	for _, f := range d.Policies {
		mark := "ok"
		if !f.OK {
			mark = "failed"
		}
		p.marked(mark, f.Path)
	}
}

// doctorPage is the text of a report.
type doctorPage struct {
	text  strings.Builder
	color bool
}

// section writes a heading, and what is said if there are no items.
func (p *doctorPage) section(name, none string, items int) {
	p.text.WriteString("\n" + p.paint(name, terminal.Bold) + "\n")
	if items == 0 && none != "" {
		p.line(none)
	}
}

func (p *doctorPage) line(text string) {
	p.text.WriteString("  " + terminal.PrintableLine(text) + "\n")
}

// marked writes a line that begins with a word for how well it is.
func (p *doctorPage) marked(mark, text string) {
	esc := map[string]string{"ok": terminal.Green, "failed": terminal.Red}[mark]
	fmt.Fprintf(&p.text, "  %s%s%s\n", p.paint(mark, esc), strings.Repeat(" ", max(1, 8-len(mark))), terminal.PrintableLine(text))
}

func (p *doctorPage) paint(text, esc string) string {
	if !p.color || esc == "" {
		return text
	}
	return esc + text + terminal.Reset
}

// table writes rows of a name and a value.
func (p *doctorPage) table(rows [][]string) {
	for l := range strings.Lines(Table(rows)) {
		p.text.WriteString("  " + l)
	}
}
