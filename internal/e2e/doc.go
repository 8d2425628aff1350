// Package e2e tests streamctl against real brokers and real Streams apps. All
// of it is test code behind the build tag realkafka; the JVM side comes from
// testdata/jvm. Whatever a test starts dies with the test process: a broker or
// an app ends when its standard input does.
package e2e
