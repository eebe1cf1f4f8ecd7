// Package dialect says what files of the products have: what differs between Terraform and OpenTofu is a row of a table or a field here,
// never a second code path.
package dialect

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Dialect is a product, which isn't zero, with what it reads and writes.
type Dialect struct {
	getproviders.Product

	Suffixes     []string // of configuration files: ".tf", ".tf.json"
	TestSuffixes []string // of test files: ".tftest.hcl", ".tftest.json"

	// Hides are suffixes of files in whose presence a file of the same name with
	// another suffix isn't read: ".tofu" to ".tf".
	Hides map[string]string

	program, version int // as [Versions] have them
}

// Of is the dialect of a product; of the zero one, Terraform's.
func Of(product getproviders.Product) Dialect {
	product = product.OrDefault()
	d := Dialect{
		Product: product, Suffixes: []string{".tf", ".tf.json"}, TestSuffixes: []string{".tftest.hcl", ".tftest.json"},
		program: max(slices.Index(programs, product.Program), 0), version: minor(product.Version),
	}
	if d.version == 0 { // which counts as a late one
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

// programs are those of the columns of tables.
var programs = []string{"terraform", "tofu"}

//go:embed words.txt
var table string

// words are the rows of the table.
var words = sync.OnceValue(func() map[string]Versions {
	all := map[string]Versions{}
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[0] != "#" {
			all[fields[0]] = ReadVersions(fields[1:3])
		}
	}
	return all
})

// Understands reports whether a row of the table holds for the product.
func (d Dialect) Understands(word string) bool {
	versions, ok := words()[word]
	return ok && d.In(versions)
}

// Versions are those that a row of a table is for, of each of the programs: from and to one, 0 where there is no limit.
type Versions [2]struct{ from, to int }

// ReadVersions reads the columns of a table, as words.txt explains them. Where there are none, all versions are meant.
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

// In reports whether versions include the product's.
func (d Dialect) In(versions Versions) bool {
	span := versions[d.program]
	return d.version >= span.from && (span.to == 0 || d.version <= span.to)
}

// minor is a version as a number, without what follows its first two numbers; 0 if it can't be read.
func minor(version string) int {
	v, _ := getproviders.ParseVersion(version)
	return int(1000*v.Major + v.Minor)
}
