package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// tiny is the provider. It has nothing to configure.
type tiny struct{}

var _ provider.Provider = tiny{}

func newTiny() provider.Provider { return tiny{} }

// Metadata implements provider.Provider.
func (tiny) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "tiny", version
}

// Schema implements provider.Provider.
func (tiny) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

// Configure implements provider.Provider.
func (tiny) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}

// Resources implements provider.Provider.
func (tiny) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return note{} }}
}

// DataSources implements provider.Provider.
func (tiny) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return echo{} }}
}
