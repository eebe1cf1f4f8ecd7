package view

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Enter has all that follows be about a directory, in which the work of a product is done. Its lines are shown to programs alone.
func (v *Init) Enter(dir string, product getproviders.Product) {
	d, r := v.several, v.run
	d.now, d.named, d.was = terminal.PrintableLine(dir), false, counts{len(r.order), r.modules, r.errors}
	v.product, v.speech, v.announced, v.cloud = product, explain.SpeechOf(product), false, false
	r.directory, r.product, r.items, r.turns, r.heads, r.signed = d.now, product, map[packageKey]*item{}, nil, nil, false
}

// Leave ends what is said of the directory, with its exit code. The words describe a directory without errors; "": it is ready.
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
