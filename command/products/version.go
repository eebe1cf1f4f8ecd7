package products

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/subprocess"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// askTimeout is how long a program may take to print its version. Some programs of
// that name are launchers, which may even start a download.
const askTimeout = 5 * time.Second

// Origin is where the version of a product comes from.
type Origin struct {
	Kind    OriginKind
	Program string // the path of the program that was run, or ""
	old     string // the version of an OldProgram
}

// OriginKind is a kind of Origin.
type OriginKind int

const (
	NoProgram           OriginKind = iota // a default, because no program of the product is on PATH
	VersionFromVariable                   // the variable in settingsOf
	VersionFromName                       // the name that tfdeps was called by, such as terraform1.9.0
	VersionFromProgram
	SilentProgram // a default, because the program didn't print its version
	OldProgram    // a default, because the program is too old for what tfdeps installs
)

// findVersion returns the product's version, and where it comes from: the variable, else
// the name that tfdeps was called by, else the program of TFDEPS_TERRAFORM_PATH, else
// the terraform on PATH, else a default; likewise for tofu. Unless readOnly is set, the version of a program is cached
// until the program changes. The error is about the variable, or a refusedLock.
func findVersion(m *cli.Meta, product getproviders.Product, readOnly bool) (string, Origin, error) {
	s := settingsOf[product.Program]
	if given := m.Env.Get(s.version); given != "" {
		v, err := getproviders.ParseVersion(given)
		if err != nil {
			return s.defaultVersion, Origin{Kind: VersionFromVariable}, fmt.Errorf("%s: %w", s.version, err)
		}
		return v.String(), Origin{Kind: VersionFromVariable}, nil
	}
	if m.StandIn != nil && m.StandIn.Version != "" && strings.HasPrefix(m.StandIn.Name, product.Program) {
		return m.StandIn.Version, Origin{Kind: VersionFromName}, nil
	}
	memory := programMemory{dir: m.CacheDir}
	programs, err := programsOf(m, product.Program)
	if err != nil {
		return s.defaultVersion, Origin{}, nil
	}
	for program := range programs {
		from := Origin{Kind: VersionFromProgram, Program: program.Path}
		if !program.IsOwn && memory.recall(&program) {
			return program.Version, from, nil
		}
		// The real program reads the lock file, too, before it says its version.
		if refused := depsfile.CheckLimits(depsfile.FileName); refused != nil {
			return s.defaultVersion, Origin{}, refusedLock{refused}
		}

		program.ask(m, s)
		from.old = program.old
		switch {
		case program.IsOwn:
			continue
		case from.old != "":
			from.Kind = OldProgram
		case program.Err != nil:
			from.Kind = SilentProgram
		case !readOnly:
			memory.keep(program)
		}
		return cmp.Or(program.Version, s.defaultVersion), from, nil
	}
	return s.defaultVersion, Origin{}, nil
}

// refusedLock is the error about a lock file that no program is to read.
type refusedLock struct{ problems problem.List }

func (e refusedLock) Error() string { return e.problems.Error() }

// ask runs a program to get its version, unless it is tfdeps. A program that answers like another version of tfdeps counts as tfdeps.
func (p *Installed) ask(m *cli.Meta, s settings) {
	if p.IsOwn {
		return
	}
	ctx, cancel := context.WithTimeout(m.Context, askTimeout)
	defer cancel()
	out := subprocess.Head{Limit: 1 << 20}
	cmd := exec.CommandContext(ctx, p.Path, "version", "-json")
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second // grandchildren may keep the pipe open
	// The version variable makes a copy of tfdeps answer at once, without running another program.
	cmd.Env = m.Env.With("CHECKPOINT_DISABLE=1", "TF_CLI_ARGS=", "TF_CLI_ARGS_version=", "TF_LOG=", "TFDEPS_LOG=",
		cli.ArgumentsVariable+"=", cli.ArgumentsVariable+"_version=",
		s.version+"="+s.defaultVersion)
	p.Err = cmd.Run()
	if v, ok := plainVersion(string(out.Kept)); ok {
		p.old = v.String()
		p.Err = errors.New("it is Terraform " + p.old)
	}
	if p.Err != nil {
		return
	}
	var answer struct {
		Version    string `json:"terraform_version"`
		OwnVersion string `json:"tfdeps_version"`
	}
	said := out.Kept
	if start := bytes.IndexByte(said, '{'); start > 0 {
		said = said[start:] // warnings about the CLI configuration are printed before
	}
	// The wrapper of a setup action adds lines after the answer, so only the first value is decoded.
	if p.Err = json.NewDecoder(bytes.NewReader(said)).Decode(&answer); p.Err != nil {
		return
	}
	if p.IsOwn = answer.OwnVersion != ""; p.IsOwn {
		return
	}
	v, err := getproviders.ParseVersion(answer.Version)
	if p.Err = err; err == nil {
		p.Version = v.String()
	}
}

// plainVersion parses the output of Terraform before 0.13, which had no JSON for its version.
func plainVersion(said string) (v getproviders.Version, ok bool) {
	first, _, _ := strings.Cut(said, "\n")
	text, ok := strings.CutPrefix(strings.TrimSpace(first), "Terraform v")
	if !ok {
		return v, false
	}
	v, err := getproviders.ParseVersion(text)
	return v, err == nil && isOld(v)
}

// isOld reports whether a version of Terraform is before 0.14, which introduced the lock file and
// today's directories.
func isOld(v getproviders.Version) bool { return v.Major == 0 && v.Minor < 14 }

// isProgramFile reports whether a file is a binary. The answer of a script isn't cached, because it may start
// another program the next time.
func isProgramFile(path string) bool {
	if runtime.GOOS == "windows" {
		return filepath.Ext(path) == ".exe"
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 2)
	n, _ := f.Read(start)
	return n == 2 && string(start) != "#!"
}

// programRecord identifies an unchanged program file.
type programRecord struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime"` // nanoseconds since 1970
	Inode   uint64 `json:"inode"` // 0 if the system has none
}

// programMemory caches the versions of programs, in a file for each program. If
// that can't be read or written, programs are run again.
type programMemory struct{ dir string } // "" means no cache

// recall sets the cached version of an unchanged program, and reports whether there is one.
func (m programMemory) recall(program *Installed) bool {
	var known Installed
	if m.dir == "" || !wholefile.Recall(m.file(program.Path), &known) || known.programRecord != program.programRecord {
		return false
	}
	program.Version = known.Version
	return known.Version != ""
}

// keep caches a program's version.
func (m programMemory) keep(program Installed) {
	if m.dir != "" && isProgramFile(program.Path) {
		wholefile.Remember(m.file(program.Path), program)
	}
}

func (m programMemory) file(program string) string {
	sum := sha256.Sum256([]byte(program))
	return filepath.Join(m.dir, fmt.Sprintf("engine-%x.json", sum[:8]))
}

// ExplainVersion adds to problems with required_version where the product's version comes from, because
// otherwise the constraint seems to be wrong. Other problems stay unchanged.
func ExplainVersion(m *cli.Meta, product getproviders.Product, problems problem.List) (explained problem.List) {
	origin := ""
	for _, p := range problems {
		if explain.CodeOf(p) != "required_version" {
			explained = append(explained, p)
			continue
		}
		if origin == "" {
			_, from, _ := findVersion(m, product, true) // Choose has reported an invalid variable
			origin = from.explain(m, product)
		}
		with := *p
		with.Detail += "\n\n" + origin
		explained = append(explained, &with)
	}
	return explained
}

// explain returns a sentence about the origin of the product's version.
func (o Origin) explain(m *cli.Meta, product getproviders.Product) string {
	text := fmt.Sprintf("The version is %s (%s).", product.Version, o.Because(m, product))
	if variable := settingsOf[product.Program].path; o.Kind == VersionFromProgram && m.Env.Get(variable) == "" {
		text += " Name another program with " + variable + "."
	}
	return text
}

// Because says what decides on the version of a product, and on the product if that isn't the default.
func (o Origin) Because(m *cli.Meta, product getproviders.Product) string {
	s, whose := settingsOf[product.Program], ""
	for _, variable := range []string{productAlias, productVariable} {
		if m.Env.Get(variable) != "" {
			whose = "by " + variable + ", "
		}
	}
	if m.StandIn != nil {
		whose = "called as " + m.StandIn.Name + ", "
	}
	assumed := fmt.Sprintf(": %s is assumed, unless %s says another", product.Version, s.version)
	switch o.Kind {
	case NoProgram:
		return whose + "no " + product.Program + " is on PATH" + assumed
	case SilentProgram:
		return whose + o.Program + " doesn't tell its version" + assumed
	case OldProgram:
		return whose + o.Program + " is too old" + assumed
	case VersionFromVariable:
		return whose + "by " + s.version
	case VersionFromName:
		return "called as " + m.StandIn.Name
	}
	return whose + "as " + o.Program + " says"
}
