package roots

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
)

// lookAround is how long an error may wait for the number of root modules below a directory, which may be a whole disk.
const lookAround = 5 * time.Second

// ForAll is the option of most commands that work in several directories, for NoConfiguration.
const ForAll = "-recursive for all of them"

// NoConfiguration is the error of a command that needs a configuration, if the current directory has none. It counts the root
// modules below that directory. many says which option of the command is for several of them, as in ForAll.
func (o *Options) NoConfiguration(m *cli.Meta, product getproviders.Product, many string) *problem.Problem {
	text := fmt.Sprintf("The directory %s contains no %s configuration files.", m.Dir, product.Name)

	return problem.Error("configuration_not_found", "No configuration files", text+o.whatIsBelow(m, product, many))
}

// whatIsBelow returns a sentence about the root modules below the current directory.
func (o *Options) whatIsBelow(m *cli.Meta, product getproviders.Product, many string) string {
	ctx, cancel := context.WithTimeout(m.Context, lookAround)
	defer cancel()
	hurried := *m
	hurried.Context = ctx

	var log problem.Log // of a directory that nobody asked about
	s := scan{m: &hurried, product: product, log: &log, known: map[string]*module{}}
	below := s.below([]string{"."})

	if ctx.Err() != nil {
		return fmt.Sprintf(" To see which root modules are below it, run \"%s roots\".", m.Called())
	}
	if len(below) == 0 {
		return " No root module is below it, either."
	}

	count := "1 root module is"
	if len(below) > 1 {
		count = fmt.Sprintf("%d root modules are", len(below))
	}
	if o.Given() {
		return fmt.Sprintf(" %s below it: name them, or use -recursive.", count)
	}
	first := filepath.Join(cmp.Or(m.ByChdir, "."), below[0].Dir)

	return fmt.Sprintf(" %s below it: use %s, or -chdir=%s for one.", count, many, first)
}
