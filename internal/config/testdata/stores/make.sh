#!/bin/sh
# Makes the test keys and stores of this folder anew. Needs openssl 3 and the
# keytool of a JDK. Every password is "changeit"; nothing here protects anything.
set -e
cd "$(dirname "$0")"
rm -f *.pem *.p12 *.jks *.jceks *.der
days=18250
for ca in ca other-ca; do
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days $days \
		-subj "/CN=streamctl test $ca" -keyout $ca-key.pem -out $ca.pem 2>/dev/null
done
openssl req -newkey rsa:2048 -nodes -subj "/CN=op/O=streamctl test" -keyout key-pkcs8.pem -out op.csr 2>/dev/null
printf 'extendedKeyUsage=clientAuth\n' >ext
openssl x509 -req -in op.csr -CA ca.pem -CAkey ca-key.pem -set_serial 17 -days $days -extfile ext -out op.pem 2>/dev/null
rm op.csr ext
cat op.pem ca.pem >chain.pem
openssl rsa -in key-pkcs8.pem -traditional -out key-pkcs1.pem 2>/dev/null
openssl pkcs8 -topk8 -in key-pkcs8.pem -v2 aes256 -passout pass:changeit -out key-encrypted.pem
openssl rsa -in key-pkcs8.pem -aes128 -traditional -passout pass:changeit -out key-proctype.pem 2>/dev/null
cat key-pkcs8.pem chain.pem >keystore.pem
cat key-pkcs1.pem chain.pem >keystore-pkcs1.pem
cat key-encrypted.pem chain.pem >keystore-encrypted.pem
cat key-proctype.pem chain.pem >keystore-proctype.pem
openssl x509 -in ca.pem -outform der -out ca.der

# trust stores
p="-storepass changeit -noprompt"
keytool -importcert $p -alias ca -file ca.pem -storetype PKCS12 -keystore trust-keytool.p12
keytool -J-Dkeystore.pkcs12.legacy -importcert $p -alias ca -file ca.pem -storetype PKCS12 -keystore trust-keytool-legacy.p12
keytool -importcert $p -alias ca -file ca.pem -storetype JKS -keystore trust.jks
keytool -importcert $p -alias ca -file ca.pem -storetype JCEKS -keystore trust.jceks
openssl pkcs12 -export -nokeys -in ca.pem -passout pass:changeit -out trust-openssl.p12

# key stores
openssl pkcs12 -export -name op -inkey key-pkcs8.pem -in op.pem -certfile ca.pem -passout pass:changeit -out key-openssl.p12
openssl pkcs12 -export -legacy -name op -inkey key-pkcs8.pem -in op.pem -certfile ca.pem -passout pass:changeit -out key-openssl-legacy.p12
keytool -importkeystore $p -srckeystore key-openssl.p12 -srcstorepass changeit -deststoretype PKCS12 -destkeystore key-keytool.p12 -deststorepass changeit
keytool -importkeystore $p -srckeystore key-openssl.p12 -srcstorepass changeit -deststoretype JKS -destkeystore key.jks -deststorepass changeit
cp key.jks key-other-password.jks
keytool -keypasswd -storepass changeit -alias op -keypass changeit -new keypass -keystore key-other-password.jks
rm other-ca-key.pem key-pkcs8.pem key-pkcs1.pem key-proctype.pem
