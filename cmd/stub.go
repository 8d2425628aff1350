package cmd

import "github.com/spf13/cobra"

func newCanICmd(d *deps) *cobra.Command    { return &cobra.Command{Use: "can-i"} }
func newConfigCmd(d *deps) *cobra.Command  { return &cobra.Command{Use: "config"} }
func newVersionCmd(d *deps) *cobra.Command { return &cobra.Command{Use: "version"} }
