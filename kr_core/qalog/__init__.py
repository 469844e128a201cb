"""The record of questions and answers: read back, and delivered to logs."""
