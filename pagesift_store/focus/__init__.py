"""Pure decisions: numbers and text in, numbers out. No database, no clock, no random source."""
