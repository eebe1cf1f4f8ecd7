package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// note is the resource tiny_note: a text that exists only in the state. Its id is
// computed from the text.
type note struct{}

var _ resource.Resource = note{}

// noteModel is a note in the state.
type noteModel struct {
	ID   types.String `tfsdk:"id"`
	Text types.String `tfsdk:"text"`
}

// Metadata implements resource.Resource.
func (note) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_note"
}

// Schema implements resource.Resource.
func (note) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":   schema.StringAttribute{Computed: true},
		"text": schema.StringAttribute{Required: true},
	}}
}

// Create implements resource.Resource.
func (note) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.Diagnostics.Append(store(ctx, req.Plan, &resp.State)...)
}

// Read implements resource.Resource. It does nothing, because the state is the only
// copy of a note.
func (note) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update implements resource.Resource.
func (note) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.Diagnostics.Append(store(ctx, req.Plan, &resp.State)...)
}

// Delete implements resource.Resource. The framework drops the state.
func (note) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// store copies the plan to the state and sets the id.
func store(ctx context.Context, plan tfsdk.Plan, state *tfsdk.State) diag.Diagnostics {
	var model noteModel
	diags := plan.Get(ctx, &model)
	model.ID = types.StringValue(identify(model.Text.ValueString()))
	diags.Append(state.Set(ctx, &model)...)
	return diags
}

// identify derives a short, stable id from a text.
func identify(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
