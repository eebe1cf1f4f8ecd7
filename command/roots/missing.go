package roots

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
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
	defer s.close()
	below, _ := s.below([]string{"."})

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

// Configurations reads all configurations in and below the current directory, also those that Find doesn't count. It reports no
// problems: Find does.
func Configurations(m *cli.Meta, product getproviders.Product) (all []*load.Module) {
	var log problem.Log
	s := scan{m: m, product: product, log: &log, known: map[string]*module{}}
	defer s.close()
	s.below([]string{"."})

	for _, dir := range slices.Sorted(maps.Keys(s.known)) {
		if read := s.known[dir]; read != nil {
			all = append(all, read.Module)
		}
	}
	return all
}
