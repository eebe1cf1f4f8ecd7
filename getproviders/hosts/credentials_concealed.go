package hosts

import (
	"fmt"
	"io"
	"log/slog"
)

// concealed is embedded by types that hold secrets: they print as the same few
// words with every verb and flag.
type concealed struct{}

// String implements fmt.Stringer.
func (concealed) String() string { return "secrets (not shown)" }

// Format implements fmt.Formatter, which comes before GoString and all verbs.
func (c concealed) Format(f fmt.State, _ rune) { io.WriteString(f, c.String()) }

// LogValue implements slog.LogValuer.
func (c concealed) LogValue() slog.Value { return slog.StringValue(c.String()) }
