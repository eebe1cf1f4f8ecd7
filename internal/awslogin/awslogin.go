// Package awslogin loads AWS configurations and credentials in the way of the AWS CLI. It is shared by
// several packages of this module; it isn't an API for others.
//
//	config, err := awslogin.Load(ctx, awslogin.Login{Region: "eu-west-1"})
//	defer awslogin.Close(config)
//
// The SDK looks for credentials when it makes the first request: in the environment, in the profile of
// the shared files (SSO, sign-in sessions, assumed roles, credential processes), by web identity, then
// from the container and from the instance metadata.
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

// Login holds the settings of an AWS client that an address (a URL or a backend block) can set. The
// environment and the shared files set the others. It can be the key of a map.
type Login struct {
	Profile, Region string
	Anonymous       bool // requests aren't signed
	Static          bool // use ID, Secret and Token, and don't look for other credentials
	ID, Secret      string
	Token           string
	// Metadata is the URL of an instance metadata service, whose role is used if there are neither
	// a Profile nor Static keys. "" means the SDK's usual search, of which the metadata service is
	// a part.
	Metadata string
}

// Load reads the environment and the shared files for all that login leaves open. The SDK's logger
// is off: problems are returned as errors, and the SDK must not write to standard error.
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
	// The SDK would make a client for each use, and nothing would close its connections.
	if own, ok := found.HTTPClient.(*awshttp.BuildableClient); ok {
		found.HTTPClient = own.Freeze()
	}
	return found, nil
}

// Close closes the idle connections of a configuration.
func Close(found aws.Config) {
	if client, ok := found.HTTPClient.(*http.Client); ok {
		client.CloseIdleConnections()
	}
}
