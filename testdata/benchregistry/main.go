// Command benchregistry serves provider packages as large as real ones, for
// benchmarks: in its own process, so that its cost isn't counted as an
// installer's. It writes the packages, a CA and a CLI configuration into a
// directory, and prints the environment variables that an installer needs, one a
// line, with an empty line at the end. For each line of stdin it prints how many
// archives it has sent. It ends with its stdin.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func main() {
	dir := flag.String("dir", "", "where to write packages")
	sample := flag.String("sample", "", "an executable: packages are as compressible as it is")
	scale := flag.Float64("scale", 1, "how large packages are, 1 being as large as real ones")
	platforms := flag.String("platforms", getproviders.CurrentPlatform().String(), "what there are packages for, with commas between")
	latency := flag.Duration("latency", 0, "how long each answer takes to begin")
	rate := flag.Int64("rate", 0, "how many bytes each archive is sent with in a second; 0: as fast as can be")
	packages := flag.String("packages", "", "what to serve, as NAMESPACE/TYPE@VERSION=MEGABYTES with commas between; \"\": ten providers of benchmarks")
	flag.Parse()
	slow := func(registry *providertest.Registry) {
		for _, kind := range []string{"discovery", "versions", "package", "sums", "signature"} {
			registry.Break(kind, providertest.Fault{Delay: *latency})
		}
		registry.Break("archive", providertest.Fault{Delay: *latency, Rate: *rate})
	}
	offered, err := parseOffers(*packages, *scale)
	if err == nil {
		err = serve(*dir, *sample, offered, strings.Split(*platforms, ","), slow)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// sizes are the sizes of the packages' executables in megabytes: from a small
// provider to one for a whole cloud.
var sizes = []float64{20, 30, 50, 80, 120, 170, 250, 350, 500, 700}

// offer is a provider, and the size of its executable.
type offer struct {
	namespace, name, version string
	megabytes                float64
}

// parseOffers reads the value of -packages.
func parseOffers(text string, scale float64) (all []offer, err error) {
	if text == "" {
		for i, megabytes := range sizes {
			all = append(all, offer{"acme", fmt.Sprint("p", i), "1.0.0", megabytes * scale})
		}
		return all, nil
	}
	for _, item := range strings.Split(text, ",") {
		address, size, _ := strings.Cut(item, "=")
		name, version, _ := strings.Cut(address, "@")
		namespace, name, ok := strings.Cut(name, "/")
		megabytes, err := strconv.ParseFloat(size, 64)
		if err != nil || !ok {
			return nil, fmt.Errorf("-packages: %q is not NAMESPACE/TYPE@VERSION=MEGABYTES", item)
		}
		all = append(all, offer{namespace, name, version, megabytes * scale})
	}
	return all, nil
}

func serve(dir, sample string, offers []offer, platforms []string, slow func(*providertest.Registry)) error {
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
	for _, o := range offers {
		for _, text := range platforms {
			platform, err := getproviders.ParsePlatform(text)
			if err != nil {
				return err
			}
			archive := filepath.Join(dir, o.name+"_"+text+".zip")
			if err := writePackage(archive, "terraform-provider-"+o.name+"_v"+o.version, pieces, int64(o.megabytes*1e6)); err != nil {
				return err
			}
			registry.Add(providertest.PackageSpec{Namespace: o.namespace, Type: o.name, Version: o.version, Platform: platform, ArchivePath: archive})
		}
	}
	env, err := registry.Env(dir, "registry.terraform.io", "registry.opentofu.org")
	if err != nil {
		return err
	}
	for _, variable := range append(env, "SSL_CERT_DIR="+os.DevNull, "") { // otherwise Go reads all files of this directory, also the archives
		fmt.Println(variable)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(registry.Requests("archive"))
	}
	return lines.Err()
}
