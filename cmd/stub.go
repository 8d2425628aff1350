package cmd

import "github.com/spf13/cobra"

func newCanICmd(d *deps) *cobra.Command       { return &cobra.Command{Use: "can-i"} }
func newConfigTestCmd(d *deps) *cobra.Command { return &cobra.Command{Use: "test"} }
