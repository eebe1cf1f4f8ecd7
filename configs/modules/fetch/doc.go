// Package fetch gets module packages from where their addresses say they are.
package fetch

import (
	_ "github.com/hashicorp/go-getter"
)
