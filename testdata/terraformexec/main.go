// Command terraformexec runs terraform in a directory as tools do, through
// HashiCorp's library terraform-exec, and prints the results.
//
//	terraformexec PROGRAM DIRECTORY
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/hashicorp/terraform-exec/tfexec"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: terraformexec PROGRAM DIRECTORY")
	}
	tf, err := tfexec.NewTerraform(os.Args[2], os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	d := driver{context.Background(), tf}
	for _, step := range []struct {
		name string
		do   func() (string, error)
	}{
		{"init", d.init}, {"version", d.version}, {"plan", d.plan}, {"apply", d.apply}, {"output", d.output}, {"show", d.show},
		{"workspace", d.workspace}, {"failure", d.failure},
	} {
		said, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		fmt.Printf("%s: %s\n", step.name, said)
	}
}

type driver struct {
	ctx context.Context
	*tfexec.Terraform
}

// init calls both forms of init in the library.
func (d driver) init() (string, error) {
	if err := d.Init(d.ctx, tfexec.Upgrade(false)); err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := d.InitJSON(d.ctx, &out); err != nil {
		return "", err
	}
	return fmt.Sprint(strings.Contains(out.String(), `"output_init_success_message"`)), nil
}

func (d driver) version() (string, error) {
	version, providers, err := d.Version(d.ctx, true)
	return fmt.Sprint(version, " ", len(providers)), err
}

func (d driver) plan() (string, error) {
	changes, err := d.Plan(d.ctx, tfexec.Out("planned"))
	return fmt.Sprint(changes), err
}

func (d driver) apply() (string, error) {
	err := d.Apply(d.ctx, tfexec.DirOrPlan("planned"))
	return "done", err
}

func (d driver) output() (string, error) {
	values, err := d.Output(d.ctx)
	return string(values["greeting"].Value), err
}

func (d driver) show() (string, error) {
	state, err := d.Show(d.ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(state.Values.Outputs["greeting"].Value), nil
}

func (d driver) workspace() (string, error) {
	if err := d.WorkspaceNew(d.ctx, "blue"); err != nil {
		return "", err
	}
	all, current, err := d.WorkspaceList(d.ctx)
	return fmt.Sprint(all, " ", current), err
}

// failure reports whether an init that can't succeed returns the right error.
func (d driver) failure() (string, error) {
	err := d.Init(d.ctx, tfexec.BackendConfig("nope=1"))
	if err == nil {
		return "", errors.New("init succeeds with an argument that there isn't")
	}
	return fmt.Sprint(strings.Contains(err.Error(), "Invalid backend configuration argument")), nil
}
