//! Models of services, through `genai`.
