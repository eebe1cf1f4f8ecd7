// Command benchregistry serves provider packages as large as real ones, for
// benchmarks: a process of its own, so that what it costs isn't counted as an
// installer's. It writes the packages, a CA and a CLI configuration into a
// directory, prints the environment variables that an installer needs, one a
// line and an empty line last, and ends with its standard input.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

func main() {
	dir := flag.String("dir", "", "where to write packages")
	sample := flag.String("sample", "", "an executable: packages are as compressible as it is")
	scale := flag.Float64("scale", 1, "how large packages are, 1 being as large as real ones")
	platforms := flag.String("platforms", getproviders.CurrentPlatform().String(), "what there are packages for, with commas between")
	latency := flag.Duration("latency", 0, "how long each answer takes to begin")
	rate := flag.Int64("rate", 0, "how many bytes each archive is sent with in a second; 0: as fast as can be")
	flag.Parse()
	slow := func(registry *providertest.Registry) {
		for _, kind := range []string{"discovery", "versions", "package", "sums", "signature"} {
			registry.Break(kind, providertest.Fault{Delay: *latency})
		}
		registry.Break("archive", providertest.Fault{Delay: *latency, Rate: *rate})
	}
	if err := serve(*dir, *sample, *scale, strings.Split(*platforms, ","), slow); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// sizes are those of the packages' executables, in megabytes: from a small
// provider to one for a whole cloud.
var sizes = []float64{20, 30, 50, 80, 120, 170, 250, 350, 500, 700}

func serve(dir, sample string, scale float64, platforms []string, slow func(*providertest.Registry)) error {
	registry, err := providertest.NewRegistry(providertest.Options{})
	if err != nil {
		return err
	}
	defer registry.Close()
	slow(registry)
	pieces, err := cut(sample)
	if err != nil {
		return err
	}
	for i, megabytes := range sizes {
		name := fmt.Sprint("p", i)
		for _, text := range platforms {
			platform, err := getproviders.ParsePlatform(text)
			if err != nil {
				return err
			}
			archive := filepath.Join(dir, name+"_"+text+".zip")
			if err := writePackage(archive, "terraform-provider-"+name+"_"+text, pieces, int64(megabytes*scale*1e6)); err != nil {
				return err
			}
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Platform: platform, ArchivePath: archive})
		}
	}
	env, err := registry.Env(dir, "registry.terraform.io")
	if err != nil {
		return err
	}
	for _, variable := range append(env, "") {
		fmt.Println(variable)
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
