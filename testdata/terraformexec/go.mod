module github.com/tfdeps/tfdeps/testdata/terraformexec

go 1.26.0

require github.com/hashicorp/terraform-exec v0.26.0

require (
	github.com/apparentlymart/go-textseg/v15 v15.0.0 // indirect
	github.com/hashicorp/go-version v1.9.0 // indirect
	github.com/hashicorp/terraform-json v0.29.0 // indirect
	github.com/zclconf/go-cty v1.18.1 // indirect
	golang.org/x/text v0.41.0 // indirect
)
