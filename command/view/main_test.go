package view

import (
	"testing"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/getproviders"
	"go.uber.org/goleak"
)

var asTerraform, asOpenTofu = explain.Names{Product: getproviders.Terraform("1.15.9"), Called: "tfdeps"}, getproviders.OpenTofu("1.12.6")

// The library draws bars with goroutines. None may be left.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
