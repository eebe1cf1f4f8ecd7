package getproviders

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func requirement(constraints string, line int) Requirement {
	return Requirement{
		Constraints: MustParseConstraints(constraints),
		Pos:         Pos{File: "main.tf", Line: line},
	}
}

func TestRequirements_RememberWhereEachWasWritten(t *testing.T) {
	aws, x := mustParse(t, "hashicorp/aws"), mustParse(t, "example.com/acme/x")
	req := Requirements{}
	req.Add(aws, requirement("~> 5.0", 3))
	req.Add(x, requirement("", 4))
	req.Add(aws, requirement(">= 5.1, ~> 5.0", 9))

	must.Equal(t, req[aws][1].Pos.Line, 9)
	must.Equal(t, req.Constraints(aws).String(), "~> 5.0, >= 5.1.0")
	if got := req.Constraints(x); !got.IsEmpty() {
		t.Errorf("constraints %q where none were written", got)
	}
	must.DeepEqual(t, req.Providers(), []Provider{x, aws})
}

func TestMerge_ChangesNothing(t *testing.T) {
	aws, x := mustParse(t, "hashicorp/aws"), mustParse(t, "acme/x")
	a := Requirements{aws: append(make([]Requirement, 0, 9), requirement("~> 5.0", 1))}
	b := Requirements{aws: {requirement(">= 5.1", 2)}, x: nil}

	merged := a.Merge(nil, b)
	must.DeepEqual(t, merged, Requirements{aws: {requirement("~> 5.0", 1), requirement(">= 5.1", 2)}, x: nil})
	merged.Add(aws, requirement("!= 5.2", 3))
	merged.Add(x, requirement("1", 4))
	if len(a) != 1 || len(a[aws]) != 1 || len(b[aws]) != 1 || len(b[x]) != 0 {
		t.Errorf("the operands became %v and %v", a, b)
	}
	if other := a.Merge(Requirements{aws: {requirement("9", 9)}}); merged[aws][1].Pos.Line != 2 || len(other[aws]) != 2 {
		t.Error("two results share memory")
	}
}

func TestRequirements_NilIsEmpty(t *testing.T) {
	var none Requirements
	if len(none.Providers()) != 0 || !none.Constraints(mustParse(t, "aws")).IsEmpty() || len(none.Merge(none)) != 0 {
		t.Error("something came out of nothing")
	}
}
