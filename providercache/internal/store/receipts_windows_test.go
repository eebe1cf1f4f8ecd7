package store

// places: access lists are the only way.
var places map[string]placeOfPackage
