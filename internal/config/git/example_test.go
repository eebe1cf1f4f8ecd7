package git_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/tfdeps/tfdeps/internal/config/git"
)

// An address that can't be that of a repository is refused before git is started.
func ExampleRepositories_Checkout() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	repositories := &git.Repositories{Dir: dir + "/store", Environ: os.Environ()}
	defer repositories.Close()

	_, err = repositories.Checkout(context.Background(), git.Request{URL: "ext::sh -c date", Ref: "v1.0.0"}, dir+"/module")
	fmt.Println(err)
	fmt.Println(errors.Is(err, git.ErrAddress))
	// Output:
	// git repository ext::sh -c date, ref "v1.0.0": this is no address of a git repository: remote helpers, such as ext::, are not supported
	// true
}
