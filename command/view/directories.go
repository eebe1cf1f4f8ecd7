package view

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// directories are those of a run that is about several: one after the other.
type directories struct {
	now   string     // the one that lines are about; "": a run is about the current directory alone
	named bool       // people have seen its name
	rows  [][]string // for people, of those that have ended
	was   counts     // when it was entered
	ends  []string   // what became of them, in words, each word once
	count map[string]int
}

// counts are what a run had when a directory was entered.
type counts struct{ order, modules, errors int }

// outside is what lines say that are about none of the directories.
const outside = "."

// Enter has all that follows be about a directory, in which the work of a product is done. Its lines are shown to programs alone.
func (v *Init) Enter(dir string, product getproviders.Product) {
	d, r := v.several, v.run
	d.now, d.named, d.was = terminal.PrintableLine(dir), false, counts{len(r.order), r.modules, r.errors}
	v.product, v.announced, v.cloud = product, false, false
	r.directory, r.product, r.items, r.turns, r.heads, r.signed = d.now, product, map[packageKey]*item{}, nil, nil, false
}

// Leave says what became of the directory: its exit code, and words for that of one that nothing is wrong with; "": it is ready.
func (v *Init) Leave(code int, words string) {
	d := v.several
	modules, errors := v.run.modules-d.was.modules, v.run.errors-d.was.errors
	n := tallyOf(v.run.order[d.was.order:])
	if code == 1 {
		words = "failed"
	} else if words == "" {
		words = "ready"
	}
	if d.count[words]++; d.count[words] == 1 {
		d.ends = append(d.ends, words)
	}
	what := ""
	switch {
	case errors > 0:
		what = terminal.Count(errors, "error")
	case words == "ready":
		what = terminal.Count(n.providers(), "provider") + ", " + terminal.Count(modules, "module")
	}
	d.rows = append(d.rows, []string{d.now, words, what})
	v.out.line(line{json: d.now + ": " + words, kind: "directory", keys: result.Object{
		"exit_code", code, "result", strings.ReplaceAll(words, " ", "_"), "errors", errors, "providers", n.object(), "modules", n.modules(modules),
	}})
	d.now = outside
}

// LeaveAll shows people what became of all directories.
func (v *Init) LeaveAll() {
	d := v.several
	v.Close()
	if v.tell == nil || len(d.rows) == 0 {
		return
	}
	fmt.Fprint(v.tell, "\n"+result.Table(d.rows))
	if v.sumUp != nil {
		var parts terminal.Phrases
		for _, words := range d.ends {
			parts.Add(d.count[words], "%d %s", d.count[words], words)
		}
		text := fmt.Sprintf("%s: %s", terminal.Count(len(d.rows), "directory"), parts)
		if d.count["ready"] > 0 {
			text += ". " + v.run.text(v.run.now())
		}
		v.sumUp(text)
	}
}

// Differ shows that directories lock different versions: a line for each provider, as version and directories.
func (v *Init) Differ(p getproviders.Provider, versions [][]string) {
	text := v.product.Short(p) + " is locked at different versions:"
	objects := result.Each(versions, func(of []string) result.Object {
		text += "\n  " + of[0] + " in " + strings.Join(of[1:], ", ")
		return result.Object{"version", of[0], "directories", of[1:]}
	})
	if v.tell != nil {
		fmt.Fprintln(v.tell, "\n"+terminal.Printable(text))
	}
	v.out.line(line{json: oneLine(text), kind: "versions_differ", keys: result.Object{"provider", p, "versions", objects}})
}

// line is that of a humanPrinter for one of several directories: people see what there is to do, and nothing of what is done.
func (d *directories) line(h humanPrinter, l line) {
	if l.human == "" || l.kind != "check_reason" && !strings.HasPrefix(l.kind, "plan_") {
		return
	}
	d.head(h, h.Out)
	fmt.Fprintln(h.Out, terminal.Printable(l.human))
}

// Problems has the directory's name stand above its problems.
func (h humanPrinter) Problems(all problem.List) {
	if h.several.now != "" && h.several.now != outside && len(all) > 0 {
		to := h.Warn
		if all.HasErrors() {
			to = h.Err
		}
		h.several.head(h, to)
	}
	h.Printer.Problems(all)
}

// head shows the name of a directory, once.
func (d *directories) head(h humanPrinter, to terminal.Stream) {
	if !d.named {
		fmt.Fprintf(to, "\n%s\n", h.Paint(to, d.now+":", terminal.Bold))
	}
	d.named = true
}
