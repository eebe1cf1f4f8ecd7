package functions

import (
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// TestTable_SameAsTerraform lets Terraform's console evaluate the expressions of the other tests.
func TestTable_SameAsTerraform(t *testing.T) {
	program := peertest.LookProgram(t, "terraform")
	dir := writeFiles(t)
	all := slices.Collect(maps.Keys(results))
	out, err := console(t, program, dir, "jsonencode(["+strings.Join(all, ", ")+"])\n")
	must.Succeed(t, err, out)
	var text string
	must.Succeed(t, json.Unmarshal([]byte(out), &text), out)
	var said []json.RawMessage
	must.Succeed(t, json.Unmarshal([]byte(text), &said))
	must.Len(t, said, len(results))
	for i, expr := range all {
		must.Equal(t, string(said[i]), results[expr], expr, said[i])
	}
}

// TestTable_FailsAsTerraform lets Terraform's console evaluate the expressions that are errors
// here, except those that would take too long.
func TestTable_FailsAsTerraform(t *testing.T) {
	program := peertest.LookProgram(t, "terraform")
	var all, exprs []string
	for expr, want := range failing {
		if !strings.Contains(want, "too ") && !strings.Contains(want, "home") && !strings.HasPrefix(expr, "templatestring") {
			all, exprs = append(all, "can("+expr+")"), append(exprs, expr)
		}
	}
	out, err := console(t, program, writeFiles(t), "jsonencode(["+strings.Join(all, ", ")+"])\n")
	must.Succeed(t, err, out)
	var said []bool
	must.Succeed(t, json.Unmarshal([]byte(strings.Trim(out, "\"\n")), &said), out)
	must.Len(t, said, len(exprs), out)
	for i, expr := range exprs {
		if said[i] {
			t.Errorf("%s is no error of Terraform's", expr)
		}
	}
}

// TestTable_HasAllOfTerraform compares the names with those of Terraform's functions.
func TestTable_HasAllOfTerraform(t *testing.T) {
	program := peertest.LookProgram(t, "terraform")
	out := must.Get(exec.CommandContext(t.Context(), program, "metadata", "functions", "-json").Output())(t)
	var said struct {
		Signatures map[string]struct {
			Parameters []struct{ Name string } `json:"parameters"`
			Variadic   *struct{ Name string }  `json:"variadic_parameter"`
		} `json:"function_signatures"`
	}
	if err := json.Unmarshal(out, &said); err != nil || len(said.Signatures) < 100 {
		t.Fatalf("%d functions: %v", len(said.Signatures), err)
	}
	table := Table(environment(Files{}))
	for name, signature := range said.Signatures {
		f, ok := table[name]
		if !ok {
			t.Errorf("there is no function %s", name)
			continue
		}
		if got, want := len(f.Params()), len(signature.Parameters); got != want || (f.VarParam() != nil) != (signature.Variadic != nil) {
			t.Errorf("%s has %d parameters (more: %t), Terraform's %d (%t)", name, got, f.VarParam() != nil, want, signature.Variadic != nil)
		}
	}
}

// console evaluates expressions, one per line.
func console(t *testing.T, program, dir, lines string) (string, error) {
	t.Helper()
	cmd := peertest.Command(t.Context(), program, dir, nil, "console")
	cmd.Stdin = strings.NewReader(lines)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
