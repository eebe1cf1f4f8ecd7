package getproviders

import (
	"errors"
	"fmt"
	"testing"
)

// TestFilesystemMirrorSource_OfThousandsCostsAsMuchAsASmallOne counts allocations: reading a
// directory allocates for each of its entries.
func TestFilesystemMirrorSource_OfThousandsCostsAsMuchAsASmallOne(t *testing.T) {
	own := []string{
		"registry.example/acme/widget/1.0.0/linux_amd64/",
		"registry.example/acme/widget/terraform-provider-widget_1.1.0_linux_amd64.zip",
	}
	others := own
	for i := range 200 {
		others = append(others,
			fmt.Sprintf("registry.example/acme/other%d/1.0.0/linux_amd64/", i),
			fmt.Sprintf("registry.example/acme/packed/terraform-provider-packed_1.%d.0_linux_amd64.zip", i),
			fmt.Sprintf("registry.example/ns%d/widget/1.0.0/linux_amd64/", i),
			fmt.Sprintf("host%d.example/acme/widget/1.0.0/linux_amd64/", i),
		)
	}
	small, large := mirror(t, own...), mirror(t, others...)
	for name, ask := range map[string]func(source Source) error{
		"Versions":         func(source Source) error { _, err := versionsOf(t, source); return err },
		"Package":          func(source Source) error { return packageFrom(t, source, "1.0.0") },
		"Package, packed":  func(source Source) error { return packageFrom(t, source, "1.1.0") },
		"Package, missing": func(source Source) error { return packageFrom(t, source, "2.0.0") },
	} {
		// Goroutines of other tests may allocate, too: the smallest count is the right one.
		cost := func(source Source) (least float64) {
			for i := range 3 {
				allocations := testing.AllocsPerRun(5, func() {
					if err := ask(source); err != nil && !errors.Is(err, ErrVersionNotFound) {
						t.Fatal(err)
					}
				})
				if i == 0 || allocations < least {
					least = allocations
				}
			}
			return least
		}
		// Each directory that the source doesn't need has 200 entries.
		if few, many := cost(small), cost(large); many > few+100 {
			t.Errorf("%s: %.0f allocations in a mirror of two packages, %.0f in one of eight hundred", name, few, many)
		}
	}
}

func packageFrom(t *testing.T, source Source, text string) error {
	t.Helper()
	_, err := source.Package(t.Context(), widget, version(text), linux)
	return err
}
