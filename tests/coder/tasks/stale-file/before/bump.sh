sed 's/^version = 1$/version = 2/' build.conf > build.new && mv build.new build.conf
