// Package awslogin finds the credentials for Amazon's services as AWS's own programs do. It is shared by
// several packages of this module, and is no API for others.
//
//	config, err := awslogin.Load(ctx, awslogin.Login{Region: "eu-west-1"})
//	defer awslogin.Close(config)
//
// Credentials are looked for when the first request is made, and not before: in the environment, in
// the profile of the shared files (SSO, sign-in sessions, other roles, programs), by web identity,
// from the container or from the machine.
package awslogin

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"
)

// Login is what an address says about credentials and all else that the configuration of a client
// depends on. What it leaves open, the environment and the shared files say. It can be the key of a
// map.
type Login struct {
	Profile, Region string
	Anonymous       bool // requests aren't signed
	Static          bool // the three that follow count, and nothing is looked for
	ID, Secret      string
	Token           string
	// Metadata is the URL of a machine's metadata, whose role counts where there are neither a
	// Profile nor Static keys; "": that is one of the places where the SDK looks.
	Metadata string
}

// Load reads the environment and the shared files as far as the login leaves anything open. Nothing
// is logged: what matters is in errors, and standard error is not the SDK's.
func Load(ctx context.Context, login Login) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	switch {
	case login.Anonymous:
		options = append(options, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	case login.Profile != "":
	case login.Static:
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(login.ID, login.Secret, login.Token)))
	case login.Metadata != "":
		role := ec2rolecreds.New(func(o *ec2rolecreds.Options) {
			o.Client = imds.New(imds.Options{Endpoint: login.Metadata, ClientEnableState: imds.ClientEnabled})
		})
		options = append(options, config.WithCredentialsProvider(role))
	}
	if login.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(login.Profile))
	}
	if login.Region != "" {
		options = append(options, config.WithRegion(login.Region))
	}
	found, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, err
	}
	// The SDK would make a client for each use, whose connections nothing closes.
	if own, ok := found.HTTPClient.(*awshttp.BuildableClient); ok {
		found.HTTPClient = own.Freeze()
	}
	return found, nil
}

// Close closes the connections of a configuration that are idle.
func Close(found aws.Config) {
	if client, ok := found.HTTPClient.(*http.Client); ok {
		client.CloseIdleConnections()
	}
}
