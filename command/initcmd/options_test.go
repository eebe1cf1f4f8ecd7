package initcmd

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestParse(t *testing.T) {
	plain := defaults()
	with := func(change func(*options)) options {
		opts := plain
		change(&opts)
		return opts
	}
	tests := []struct {
		args string
		want options
	}{
		{"", plain},
		{"-upgrade", with(func(o *options) { o.upgrade = true })},
		{"--upgrade=false", plain},
		{"-json", with(func(o *options) { o.json = true })},
		{"-json=false", plain},
		{"-target -json", with(func(o *options) { o.backend.foreign = []string{"target"} })},
		{"-backend=false", with(func(o *options) { o.backend.initialize = false })},
		{"-cloud=false", with(func(o *options) { o.backend.initialize = false })},
		{"-get=false", with(func(o *options) { o.get = false })},
		{"-lockfile=readonly", with(func(o *options) { o.lockfile = "readonly" })},
		{"-lockfile=readonly -lockfile=", plain},
		{"-input=false -backend=true -get=true -upgrade=false", plain}, // as terraform-exec gives it
		{"-backend-config=a -backend-config= -reconfigure", with(func(o *options) {
			o.backend = backendOptions{initialize: true, createDefault: true, config: []string{"a", ""}, reconfigure: true}
		})},
		{"-with=tofu -force-copy -lock=false -backend-config=a=b -upgrade", with(func(o *options) {
			o.upgrade = true
			o.backend = backendOptions{initialize: true, createDefault: true, config: []string{"a=b"}, forceCopy: true, with: "tofu",
				passed: []string{"-lock=false", "-force-copy=true"}}
		})},
		{"-plugin-dir=a -plugin-dir b", with(func(o *options) { o.pluginDirGiven, o.pluginDirs = true, []string{"a", "b"} })},
		{"-plugin-dir=", with(func(o *options) { o.pluginDirGiven = true })},
		{"-progress=plain", with(func(o *options) { o.progress = view.ProgressPlain })},
		{"-mirror-fallback=next", with(func(o *options) { o.mirrorFallback = "next" })},
	}
	for _, tt := range tests {
		got, problems := parse(new(cli.Meta), strings.Fields(tt.args))
		must.Len(t, problems, 0, tt.args)
		got.by, got.readonlyBy = nil, "" // see TestParse_FrozenNamesWhoSetIt
		must.DeepEqual(t, got, tt.want, tt.args)
	}
}

func TestParse_ReturnsAllProblems(t *testing.T) {
	_, problems := parse(new(cli.Meta), strings.Fields("-lockfile=x -backend=true -cloud=true -reconfigure -migrate-state -with=x"))
	var got []string
	for _, p := range problems {
		got = append(got, p.Summary)
	}
	want := "Invalid init options, Invalid lock file mode, Invalid program, Invalid init options"
	must.Equal(t, strings.Join(got, ", "), want, got)
}

// If tfdeps is called by the name of a program, that program moves state.
func TestParse_StateIsMovedByTheProgramOfTheName(t *testing.T) {
	for _, standIn := range []*cli.StandIn{nil, {Name: "tofu1.12.6"}} {
		opts, problems := parse(&cli.Meta{StandIn: standIn}, []string{"-force-copy"})
		must.Equal(t, len(problems), 0)
		must.Equal(t, opts.backend.with, map[bool]string{true: "tofu1.12.6"}[standIn != nil])
	}
}

func TestParse_KnowsHowToShowThem(t *testing.T) {
	opts, problems := parse(new(cli.Meta), []string{"-nonsense", "-json"})
	must.Equal(t, problems.HasErrors() && opts.json, true, problems)
}

// TestParse_FrozenNamesWhoSetIt has an option and a variable, separated by a comma, and what has set readonly and offline.
func TestParse_FrozenNamesWhoSetIt(t *testing.T) {
	for text, want := range map[string]string{
		",":                                  ", ",
		"-frozen,":                           "-frozen, -frozen",
		",TFDEPS_FROZEN=1":                   "TFDEPS_FROZEN, TFDEPS_FROZEN",
		"-lockfile=readonly,TFDEPS_FROZEN=1": "-lockfile=readonly, TFDEPS_FROZEN",
		"-frozen,TFDEPS_OFFLINE=1":           "-frozen, TFDEPS_OFFLINE",
		"-frozen=false,TFDEPS_FROZEN=1":      ", ",
		"-offline=false,TFDEPS_FROZEN=1":     "TFDEPS_FROZEN, TFDEPS_FROZEN",
	} {
		args, variable, _ := strings.Cut(text, ",")
		opts, problems := parse(&cli.Meta{Env: cli.Environment{variable}}, strings.Fields(args))
		must.Len(t, problems, 0, text)
		must.Equal(t, opts.readonlyBy+", "+opts.offlineBy, want, text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-upgrade -lockfile=readonly x")
	f.Add("-reconfigure=maybe -lock-timeout=1h --")
	f.Fuzz(func(_ *testing.T, args string) { parse(new(cli.Meta), strings.Fields(args)) })
}
