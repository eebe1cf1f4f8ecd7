// Command fleet simulates many runners that install ten providers, and prints the load of the registry and the
// company's network, and how long the runners wait: without a mirror, with one in a bucket, and with servers.
//
//	go run ./testdata/fleet -runners=10,1000,100000 -replicas=2
//
// With -real it compares the simulation with real installations on this machine.
//
//	go run ./testdata/fleet -real=50 -scale=0.05
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	sizes := flags.String("runners", "10,1000,100000", "how many runners, with commas between")
	replicas := flags.Int("replicas", 2, "how many servers")
	installations := flags.Int("real", 0, "how many installations to compare the simulation with; 0: none")
	scale := flags.Float64("scale", 0.01, "with -real: how large archives are, 1 being as large as real ones")
	asJSON := flags.Bool("json", false, "print JSON, a line for each result")
	c := usual
	for _, option := range []struct {
		name, meaning string
		value         *float64
	}{
		{"latency", "milliseconds of a request to the registry", &c.latency},
		{"connection", "megabytes per second of one connection to the registry", &c.connection},
		{"uplink", "megabytes per second between the company and the internet", &c.uplink},
		{"runner", "megabytes per second of one runner's network", &c.runnerNetwork},
		{"bucket", "megabytes per second of the bucket", &c.bucketNetwork},
		{"server", "megabytes per second of one server's network", &c.replicaNetwork},
		{"unpack", "megabytes of archives that a runner unpacks in a second", &c.unpack},
	} {
		unit := 1e6
		if option.name == "latency" {
			unit = 1e-3
		}
		flags.Func(option.name, fmt.Sprintf("%s (default %g)", option.meaning, *option.value/unit), func(text string) error {
			given, err := strconv.ParseFloat(text, 64)
			if err != nil || given <= 0 {
				return errors.New("want a number above 0")
			}
			*option.value = given * unit
			return nil
		})
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *replicas < 1 {
		return fmt.Errorf("-replicas has to be 1 or more, and there are no arguments: %q", flags.Args())
	}
	if *installations > 0 {
		return compare(stdout, *installations, *scale, c)
	}
	for i, s := range scenarios {
		if !*asJSON {
			fmt.Fprintf(stdout, "%s%s\n\n%s", strings.Repeat("\n", min(i, 1)), s.name, heading)
		}
		for _, text := range strings.Split(*sizes, ",") {
			runners, err := strconv.Atoi(text)
			if err != nil || runners < 1 {
				return fmt.Errorf("-runners: %q is no number of runners", text)
			}
			for _, w := range ways {
				if err := print(stdout, s, w, simulate(s, w, runners, *replicas, c, false), *asJSON); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

const heading = `| runners | packages from | registry: documents | archives | bytes | uplink | mirror: requests | bytes | per second | half are ready in | 99 % in | failed |
|---|---|---|---|---|---|---|---|---|---|---|---|
`

func print(w io.Writer, s scenario, from way, r result, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(struct {
			Scenario string `json:"scenario"`
			From     way    `json:"from"`
			result
		}{s.name, from, r})
	}
	_, err := fmt.Fprintf(w, "| %d | %s | %d | %d | %s | %s/s | %d | %s | %s/s | %s | %s | %d |\n", r.Runners, from, r.RegistryDocuments,
		r.RegistryArchives, bytes(r.RegistryBytes), bytes(r.UplinkRate), r.MirrorRequests, bytes(r.MirrorBytes), bytes(r.MirrorRate), seconds(r.Median), seconds(r.Slowest), r.Failed)
	return err
}

// bytes formats a number of bytes.
func bytes(n float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}} {
		if n >= unit.size {
			return fmt.Sprintf("%.3g %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.0f B", n)
}

// seconds formats a duration.
func seconds(n float64) string {
	if n < 100 {
		return fmt.Sprintf("%.1f s", n)
	}
	return strings.TrimSuffix((time.Duration(n) * time.Second).Round(time.Minute).String(), "0s")
}
