//! What a model is told: instructions, the conversation, and how it stays short enough.
