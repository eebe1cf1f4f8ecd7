package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// echo is the data source tiny_echo: it returns its text,
// with the id of a note with the same text.
type echo struct{}

var _ datasource.DataSource = echo{}

// echoModel is an echo in the state.
type echoModel struct {
	ID   types.String `tfsdk:"id"`
	Text types.String `tfsdk:"text"`
}

// Metadata implements datasource.DataSource.
func (echo) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_echo"
}

// Schema implements datasource.DataSource.
func (echo) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":   schema.StringAttribute{Computed: true},
		"text": schema.StringAttribute{Required: true},
	}}
}

// Read implements datasource.DataSource.
func (echo) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model echoModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	model.ID = types.StringValue(identify(model.Text.ValueString()))
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}
