# What is built is not kept.
mkdir -p build
cp services/web/web.conf build/out.conf
