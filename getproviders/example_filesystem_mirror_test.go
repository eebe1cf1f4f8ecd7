package getproviders_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// List the versions of a provider in a directory, and find the package of the newest one that a
// constraint allows.
func ExampleFilesystemMirrorSource() {
	dir, err := os.MkdirTemp("", "mirror")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, version := range []string{"3.1.0", "3.2.3", "4.0.0-beta1"} {
		if err := os.MkdirAll(filepath.Join(dir, "registry.terraform.io/hashicorp/null", version, "linux_amd64"), 0o755); err != nil {
			log.Fatal(err)
		}
	}

	ctx := context.Background()
	provider, err := getproviders.Terraform("1.15.9").ParseProvider("hashicorp/null")
	if err != nil {
		log.Fatal(err)
	}
	source := &getproviders.FilesystemMirrorSource{Dir: dir}
	available, err := source.Versions(ctx, provider)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("available:", available.Versions)

	newest, ok := getproviders.MustParseConstraints("~> 3.1").Newest(available.Versions)
	if !ok {
		log.Fatal("no version fits")
	}
	found, err := source.Package(ctx, provider, newest, getproviders.Platform{OS: "linux", Arch: "amd64"})
	if err != nil {
		log.Fatal(err)
	}
	_, inside, _ := strings.Cut(filepath.ToSlash(found.Location.String()), "/registry.terraform.io/")
	fmt.Println("selected:", newest, "in", inside)
	// Output:
	// available: [3.1.0 3.2.3 4.0.0-beta1]
	// selected: 3.2.3 in hashicorp/null/3.2.3/linux_amd64
}
