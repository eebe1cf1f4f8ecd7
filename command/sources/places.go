package sources

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/oci"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/internal/subprocess"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// mirrorVariable names mirrors, with commas between them.
const mirrorVariable = "TFDEPS_MIRROR"

// MirrorFlag is the option -mirror, whose values [Session.OpenMirrors] takes.
func MirrorFlag(given *[]string) cli.Flag {
	return cli.Option("mirror=URL", cli.Func(func(value string) error {
		for each := range strings.SplitSeq(value, ",") {
			if each = strings.TrimSpace(each); each == "" {
				return errors.New("it has to be the URL of a mirror, or a directory")
			}
			if !slices.Contains(*given, each) {
				*given = append(*given, each)
			}
		}
		return nil
	}),
		"Take providers only from this mirror", "It is a bucket such as s3://BUCKET/PREFIX or gs://BUCKET/PREFIX, an OCI registry at oci://HOST/PATH/$${namespace}/$${type}, a network mirror at https://, or a directory in the layout of a filesystem mirror. May be given more than once, or with commas: mirrors are asked in that order.").
		Or(mirrorVariable, "which mirrors providers come from")
}

// Mirror is a mirror of -mirror.
type Mirror struct {
	Location string // as it was given, but redacted
	Source   getproviders.Source
}

// OpenBucket opens the bucket of a URL. The caller has to close it. others are further forms of locations that the caller accepts,
// for the error.
func (net Network) OpenBucket(ctx context.Context, address string, others ...string) (blob.Bucket, *problem.Problem) {
	bucket, err := net.Bucket(ctx, address, append(others, "a directory")...)
	if err != nil {
		return nil, problem.Errorf("bucket", "Invalid URL of a bucket", "%s can't be used: %v.", sentenceStart(places.Redacted(address)), err)
	}
	return bucket, nil
}

// OpenRegistry returns a publisher of packages in the repositories of a URL. create creates missing repositories, and may be
// nil. OpenRegistry sends no request.
func (net Network) OpenRegistry(address string, create func(context.Context, oci.Repository) error) (remote.Releases, *problem.Problem) {
	releases, err := net.Releases(address, create)
	if err != nil {
		return nil, problem.Error("bucket", "Invalid URL of a registry", problem.Sentence(err))
	}
	return releases, nil
}

// sentenceStart returns a redacted location as the beginning of a sentence.
func sentenceStart(location string) string {
	if location == places.UnreadableURL {
		return "A URL that can't be read"
	}
	return location
}

// CreateRepositoryFlag is the option -create-repository, whose value [CreateRepository] takes.
func CreateRepositoryFlag(given *string) cli.Flag {
	return cli.Option("create-repository=CMD", cli.Func(func(value string) error {
		if strings.TrimSpace(value) == "" {
			return errors.New("it has to be a command")
		}
		*given = value
		return nil
	}),
		"If the OCI registry lacks a repository, run this command, such as \"aws ecr create-repository --repository-name\", and try once more", "The repository's name is its last argument. Spaces separate its words; no shell reads them. It runs in the root directory, with OCI_REGISTRY and OCI_REPOSITORY in its environment.")
}

// CheckCreateRepository refuses the option -create-repository if the location is no OCI registry.
func CheckCreateRepository(m *cli.Meta, log *problem.Log, given, location string) {
	m.Refuse(log, given != "" && !places.IsOCI(location), "The -create-repository flag needs oci://",
		"It says how repositories of an OCI registry are created, and the packages go to another place.", "-create-repository")
}

// hookOutput is how many bytes of the command's output an error quotes.
const hookOutput = 1000

// CreateRepository returns a function that creates repositories by a command, or nil if the command is "". Several calls may run at once.
func CreateRepository(m *cli.Meta, command string) func(context.Context, oci.Repository) error {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil
	}
	return func(ctx context.Context, r oci.Repository) error {
		said := &subprocess.Tail{Limit: hookOutput}
		env := m.Env.With("OCI_REGISTRY="+r.Registry, "OCI_REPOSITORY="+r.Name)
		cmd, err := subprocess.Command(ctx, env, "", words[0], append(words[1:len(words):len(words)], r.Name)...)
		if err == nil {
			cmd.Stdout, cmd.Stderr = said, said
			err = cmd.Run()
		}
		if err == nil || errors.Is(err, exec.ErrWaitDelay) {
			return nil
		}
		text := strings.TrimSpace(strings.ToValidUTF8(string(said.Kept), ""))
		if said.Over {
			text = "..." + text
		}
		if text != "" {
			text = ": " + text
		}
		return fmt.Errorf("the command %q failed: %w%s", command, err, text)
	}
}
