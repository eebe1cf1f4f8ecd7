// Package dialect describes the files of Terraform and OpenTofu. A difference between the two is a row of a table or a field here, never
// a second code path.
package dialect

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Dialect is a product, never the zero one, with the files that it reads and writes.
type Dialect struct {
	getproviders.Product

	Suffixes     []string // of configuration files: ".tf", ".tf.json"
	TestSuffixes []string // of test files: ".tftest.hcl", ".tftest.json"

	// Hides maps suffixes to suffixes, such as ".tofu" to ".tf": if NAME.tofu exists, NAME.tf isn't
	// read.
	Hides map[string]string

	program, version int // column and version in [Versions]
}

// Of returns the dialect of a product; the zero product means Terraform.
func Of(product getproviders.Product) Dialect {
	product = product.OrDefault()
	d := Dialect{
		Product: product, Suffixes: []string{".tf", ".tf.json"}, TestSuffixes: []string{".tftest.hcl", ".tftest.json"},
		program: max(slices.Index(programs, product.Program), 0), version: minor(product.Version),
	}
	if d.version == 0 { // an unknown version means the latest known one
		d.version = words()["known"][d.program].to
	}
	if d.program == 0 {
		return d
	}
	d.Suffixes = append([]string{".tofu", ".tofu.json"}, d.Suffixes...)
	d.TestSuffixes = append([]string{".tofutest.hcl", ".tofutest.json"}, d.TestSuffixes...)
	d.Hides = map[string]string{
		".tofu": ".tf", ".tofu.json": ".tf.json",
		".tofutest.hcl": ".tftest.hcl", ".tofutest.json": ".tftest.json",
	}
	return d
}

// programs are the programs of the tables' columns.
var programs = []string{"terraform", "tofu"}

//go:embed words.txt
var table string

// words returns the rows of the table.
var words = sync.OnceValue(func() map[string]Versions {
	all := map[string]Versions{}
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[0] != "#" {
			all[fields[0]] = ReadVersions(fields[1:3])
		}
	}
	return all
})

// Understands reports whether a row of the table applies to the product.
func (d Dialect) Understands(word string) bool {
	versions, ok := words()[word]
	return ok && d.In(versions)
}

// Versions are the versions for which a row of a table applies, of each program: from and to one, 0 means no limit.
type Versions [2]struct{ from, to int }

// ReadVersions parses the columns of a table, as words.txt explains them. Missing columns mean all versions.
func ReadVersions(columns []string) (v Versions) {
	for i, column := range columns {
		from, to, _ := strings.Cut(column, "..")
		switch column {
		case "all":
		case "-":
			v[i].to = -1
		default:
			v[i].from, v[i].to = minor(from+".0"), minor(to+".0")
		}
	}
	return v
}

// In reports whether versions include that of the product.
func (d Dialect) In(versions Versions) bool {
	span := versions[d.program]
	return d.version >= span.from && (span.to == 0 || d.version <= span.to)
}

// minor returns the first two parts of a version as a number, or 0 if the version can't be parsed.
func minor(version string) int {
	v, _ := getproviders.ParseVersion(version)
	return int(1000*v.Major + v.Minor)
}
