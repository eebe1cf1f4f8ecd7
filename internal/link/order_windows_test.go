package link

// places: access lists are the only way.
var places map[string]placeOfCache
