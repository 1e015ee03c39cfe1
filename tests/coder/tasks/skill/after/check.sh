grep -qx '[0-9]*\.[0-9]*' VERSION && echo fine
