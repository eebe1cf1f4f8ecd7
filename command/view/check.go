package view

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// CheckReason is why an init would have something to do. Code is stable; it is
// about a provider, a module, or neither.
type CheckReason struct {
	Code     string                `json:"code"`
	Provider getproviders.Provider `json:"provider,omitzero"` // zero: about none
	Module   string                `json:"module,omitempty"`  // its key; "": about none
	Detail   string                `json:"detail"`            // a sentence, without capital and full stop
}

const (
	upToDate = "Nothing to do: this directory is initialized."
	outdated = "There is something to do for init:"
)

// Checked answers whether an init would have something to do: without reasons,
// it wouldn't.
func (v *Init) Checked(reasons []CheckReason) { v.out.checked(reasons) }

func (r CheckReason) text() string {
	switch {
	case r.Provider != getproviders.Provider{}:
		return fmt.Sprintf("provider %s: %s", r.Provider, r.Detail)
	case r.Module != "":
		return fmt.Sprintf("module %s: %s", r.Module, r.Detail)
	default:
		return r.Detail
	}
}

func (h *humanPrinter) checked(reasons []CheckReason) {
	if len(reasons) == 0 {
		fmt.Fprintln(h.out, upToDate)
		return
	}
	var b strings.Builder
	b.WriteString(outdated + "\n")
	for _, r := range reasons {
		b.WriteString(Printable(fmt.Sprintf("  - %s (%s)", r.text(), r.Code)) + "\n")
	}
	fmt.Fprint(h.out, b.String())
}

// checked writes an object for each reason and one for the answer.
func (j *jsonPrinter) checked(reasons []CheckReason) {
	for _, r := range reasons {
		j.reason(r)
	}
	text := upToDate
	if len(reasons) > 0 {
		text = strings.TrimSuffix(outdated, ":")
	}
	j.write("info", text, "check", map[string]any{"up_to_date": len(reasons) == 0, "reasons": len(reasons)})
}

// reason writes an object for a reason.
func (j *jsonPrinter) reason(r CheckReason) {
	about := map[string]any{"code": r.Code}
	if r.Provider != (getproviders.Provider{}) {
		about["provider"] = r.Provider.String()
	}
	if r.Module != "" {
		about["module"] = r.Module
	}
	j.write("info", r.text(), "check_reason", about)
}
