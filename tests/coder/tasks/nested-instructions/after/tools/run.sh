# checked
echo ready
