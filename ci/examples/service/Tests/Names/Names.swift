// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Types of a program whose names a library might have, too.
public struct Tag {}
public struct Policy {}
public struct Activity {}
public struct Proof {}
public struct Sender {}
public struct Heartbeat {}
public struct Durability {}
public struct Killer {}
public struct OOMKind {}
public struct Leak {}
public struct Trait {}
public struct Test {}
public struct Issue {}
